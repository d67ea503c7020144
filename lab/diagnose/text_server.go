package diagnose

import (
	"fmt"
	"strings"
)

// backgroundText says what the server's own processes did.
func (d *Diagnosis) backgroundText(b *strings.Builder) {
	if len(d.Background) == 0 {
		return
	}
	b.WriteString("\nTHE SERVER'S OWN PROCESSES, on average at work\n")
	for i := range d.Background {
		says := d.Background[i].says()
		fmt.Fprintf(b, "  %s\n", says[0])
		for _, line := range says[1:] {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
}

// settingsShown of a report.
const settingsShown = 10

// settingsText says which settings are not the server's.
func (d *Diagnosis) settingsText(b *strings.Builder) {
	if d.Settings == nil || len(d.Settings.Differ)+len(d.Settings.PerStatement) == 0 {
		return
	}
	b.WriteString("\nSETTINGS THAT DIFFER, OR RUN FOR EACH STATEMENT\n")
	all := append(append([]Setting{}, d.Settings.PerStatement...), d.Settings.Differ...)
	for _, s := range all[:min(settingsShown, len(all))] {
		fmt.Fprintf(b, "  %s\n", s.text())
	}
	if more := len(all) - settingsShown; more > 0 {
		fmt.Fprintf(b, "  %d more in --json\n", more)
	}
}

// Text of a setting, for a page.
func (s Setting) Text() string { return s.text() }

// Says is what processes of a kind did, for a page.
func (b Background) Says() string { return strings.Join(b.says(), "; ") }
