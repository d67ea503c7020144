package peers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Gatling from Maven Central. Each arrival is a user of its own: there is no number of users to run out of.
var Gatling = Tool{Name: "gatling", Version: gatlingVersion, Thinks: true, Install: gatlingFromMaven,
	Command: gatlingCommand, Read: gatlingReport}

// gatlingFiles are the load in Gatling's own words, and what builds it.
var gatlingFiles = []string{"pom.xml", "src/main/java/Card.java", "src/main/resources/logback.xml"}

// gatlingCommand has the options of the virtual machine that Gatling's own plugins set.
func gatlingCommand(program string, j Job) (*exec.Cmd, error) {
	libraries := filepath.Join(filepath.Dir(program), "lib", "*")
	cmd := exec.Command("java", "-server", "-Xmx1G", "-XX:MaxInlineLevel=20", "-XX:MaxTrivialSize=12",
		"--add-opens=java.base/java.lang=ALL-UNNAMED", "-Djava.util.prefs.userRoot="+j.Folder,
		"-cp", program+":"+libraries, "io.gatling.app.Gatling", "--simulation", "Card", "--results-folder",
		j.Path("gatling"))
	cmd.Env = j.environment()
	return cmd, nil
}

// gatlingLine is one of the lines that it prints at its end: a name, and the figure of all, good and failed requests.
var gatlingLine = regexp.MustCompile(`(?m)^> (\S.*?) +\| +(\S+) \| +(\S+) \| +(\S+)$`)

func gatlingReport(j Job) (o Report, err error) {
	text, err := os.ReadFile(j.Path(Out))
	if err != nil {
		return o, err
	}
	type figures struct{ total, good, failed float64 }
	said := map[string]figures{}
	for _, line := range gatlingLine.FindAllStringSubmatch(string(text), -1) {
		said[line[1]] = figures{gatlingNumber(line[2]), gatlingNumber(line[3]), gatlingNumber(line[4])}
	}
	count := said["request count"]
	if count.total == 0 {
		return o, errors.New("gatling reports no requests")
	}
	return Report{
		Answers: int64(count.good), Failed: int64(count.failed), Mean: said["mean response time (ms)"].total,
		P50: said["response time 50th percentile (ms)"].total, P95: said["response time 95th percentile (ms)"].total,
		P99: said["response time 99th percentile (ms)"].total, Max: said["max response time (ms)"].total,
	}, nil
}

// gatlingNumber has commas between thousands; a dash is none.
func gatlingNumber(text string) float64 {
	x, _ := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return x
}
