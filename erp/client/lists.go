package client

import (
	"context"
	"math/rand/v2"
	"net/url"

	"plimsoll/erp/skew"
)

// listSearched is a list of documents, some of them filtered by a part of a partner's name.
func listSearched(documentType string) action {
	return func(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
		query := ""
		if rng.Float64() < searchShare {
			query = searched(s, rng)
		}
		return c.read(ctx, s, "/v1/documents/"+documentType, query, `{"items":[`)
	}
}

// listOf is listSearched of documents with a counterparty, some of them filtered by one.
func listOf(documentType string) action {
	return func(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
		query := ""
		switch at := rng.Float64(); {
		case at < searchShare:
			query = searched(s, rng)
		case at < 2*searchShare:
			partner := s.directory.customers[skew.Pick(rng, len(s.directory.customers), skew.Mild)]
			query = "counterparty=" + partner.counterparty.String()
		}
		return c.read(ctx, s, "/v1/documents/"+documentType, query, `{"items":[`)
	}
}

func searched(s *Session, rng *rand.Rand) string {
	return "search=" + url.QueryEscape(fragment(s.directory.partnerNames, rng))
}
