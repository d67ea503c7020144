package client

import (
	"context"
	"math/rand/v2"

	"plimsoll/erp/skew"
)

// cardAccounts are those whose cards people open.
var cardAccounts = []string{"62", "60", "41", "51", "26"}

// cardDays is the longest period of a card.
const cardDays = 30

func reportToShip(c *Client, ctx context.Context, s *Session, _ *rand.Rand) (Outcome, error) {
	return c.read(ctx, s, "/v1/reports/to-ship", "warehouse="+s.directory.warehouse.String(), `{"rows":[`)
}

// reportSettlements of one side: with all partners, or with one.
func reportSettlements(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	side, partners := "customers", s.directory.customers
	if rng.IntN(2) == 0 {
		side, partners = "suppliers", s.directory.suppliers
	}
	query := "side=" + side + "&date=" + daysAgo(rng.IntN(reportDays))
	if rng.IntN(2) == 0 {
		query += "&counterparty=" + partners[skew.Pick(rng, len(partners), skew.Mild)].counterparty.String()
	}
	return c.read(ctx, s, "/v1/reports/settlements", query, `{"date":"`)
}

func reportAccountCard(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	query := "account=" + cardAccounts[rng.IntN(len(cardAccounts))] + "&from=" + daysAgo(1+rng.IntN(cardDays))
	return c.read(ctx, s, "/v1/reports/account-card", query, `{"from":"`)
}
