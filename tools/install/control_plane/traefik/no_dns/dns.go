// Package dns has no provider: each of the hundred and more brings the client of a cloud.
package dns

import (
	"errors"

	"github.com/go-acme/lego/v5/challenge"
)

// NewDNSChallengeProviderByName knows none.
func NewDNSChallengeProviderByName(name string) (challenge.Provider, error) {
	return nil, errors.New("no DNS provider " + name)
}
