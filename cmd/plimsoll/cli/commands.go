package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addCommands adds every command to root, in the order of the help.
func (a *app) addCommands(root *cobra.Command) {
	a.addRun(root)
	a.addLine(root)
	a.addCompare(root)
	a.addScenario(root)
	a.addReport(root)
	a.addRuns(root)
	a.addExport(root)
	a.addRecompute(root)
	a.addAudit(root)
	a.addRepair(root)
	a.addCrash(root)
	a.addCommits(root)
	a.addProve(root)
	a.addPlanted(root)
	a.addDiagnose(root)
	a.addTopology(root)
	a.addAdvise(root)
	a.addCheck(root)
	a.addProfile(root)
	a.addScore(root)
	a.addReplay(root)
	a.addMCP(root)
	a.addUp(root)
	a.addStatus(root)
	a.addPsql(root)
	a.addDown(root)
	a.addDestroy(root)
	a.addPromote(root)
	a.addBackup(root)
	a.addClone(root)
	a.addKeep(root)
	a.addFill(root)
	a.addReset(root)
	a.addServe(root)
	a.addPasswd(root)
	a.addAgent(root)
	a.addRestore(root)
	a.addRecalculate(root)
	a.addClose(root)
	a.addGroups(root)
	a.addConfig(root)
	a.addVersion(root)
	a.addCompletion(root)
	a.addMan(root)
	a.addUninstall(root)
	addHelp(root)
	completeChoices(root)
}

// completeChoices offers the values of every flag that takes one of a few.
func completeChoices(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if words := strings.Split(f.Value.Type(), "|"); len(words) > 1 {
				_ = c.RegisterFlagCompletionFunc(f.Name,
					cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
			}
		})
	}
}
