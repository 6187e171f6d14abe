package greeting

import (
	"context"

	"github.com/google/uuid"
)

// Fake is a Texts for tests of other packages.
type Fake map[uuid.UUID]string

func (f Fake) Text(_ context.Context, tenant uuid.UUID) (string, error) {
	text, ok := f[tenant]
	if !ok {
		return "", ErrMissing
	}
	return text, nil
}
