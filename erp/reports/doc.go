// Package reports owns what users look up: answers read from the registers, not kept anywhere.
package reports

import (
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/server"
)

// All reports by the last part of their path.
func All(app *metadata.Application) map[string]server.Report {
	return map[string]server.Report{
		"stock": stockReport, "trial-balance": trialBalanceReport, "account-card": accountCardReport(app),
		"settlements": settlementsReport, "to-ship": toShip(app), "to-receive": toReceive(app),
	}
}
