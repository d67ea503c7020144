package scenario

import (
	"encoding/json"
	"regexp"
	"strings"

	"plimsoll/ground/human"
)

var (
	// secretKey of a scenario holds a secret, besides keys, headers, variables and parameters of such names: how to log
	// in, and the texts of files.
	secretKey = regexp.MustCompile(`(?i)^(basic|bearer|auth|key|text)$`)
	// parameter of an address or a form.
	parameter = regexp.MustCompile(`([?&;]|^)([^=&;?\s]+)=([^&;?#\s{]+)`)
	// sqlPassword of CREATE ROLE and ALTER ROLE.
	sqlPassword = regexp.MustCompile(`(?i)(password\s+)'(?:[^']|'')*'?`)
	// filledIn from a variable, which is no secret by itself.
	filledIn = regexp.MustCompile(`(?i)\{\{[^}]*\}\}|bearer|basic|token|[\s:;=,]`)
)

// Masked is the scenario as JSON without its secrets, to be kept beside results and shown to others. It shows what was
// done, and cannot be played again where something had to be masked.
func (s *Scenario) Masked() ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	return json.MarshalIndent(masked("", tree), "", "  ")
}

// masked walks through a tree. What is below a secret name is secret as well; extract says where in an answer something
// is, by the name that it gets.
func masked(name string, tree any) any {
	if human.SecretName(name) || secretKey.MatchString(name) {
		return human.EachText(tree, hidden)
	}
	switch value := tree.(type) {
	case map[string]any:
		for key, below := range value {
			if name != "extract" {
				value[key] = masked(key, below)
			}
		}
	case []any:
		for i := range value {
			value[i] = masked(name, value[i])
		}
	case string:
		value = parameter.ReplaceAllStringFunc(value, func(found string) string {
			name, _, _ := strings.Cut(found, "=")
			if !human.SecretName(name) {
				return found
			}
			return name + "=" + human.Masked
		})
		return human.Redact(sqlPassword.ReplaceAllString(value, "${1}'"+human.Masked+"'"))
	}
	return tree
}

// hidden is a text masked, unless it is filled in from variables alone.
func hidden(text string) string {
	if strings.TrimSpace(filledIn.ReplaceAllString(text, "")) != "" {
		return human.Masked
	}
	return text
}
