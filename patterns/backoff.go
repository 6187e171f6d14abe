package patterns

import (
	"context"

	"github.com/azpatterns/azpatterns/internal/parallel"
)

// pause waits before the next try after a lost race.
func pause(ctx context.Context, try int) error { return parallel.Pause(ctx, try) }
