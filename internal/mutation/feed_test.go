package mutation_test

import "github.com/azpatterns/azpatterns/internal/mutation"

// Rules of the feeds of a journal, and what a delivery does.
var feedMutants = []mutation.Mutant{
	{
		Name: "feed: no message", Flags: by("TestTheRequestsOfAChangeWithAFeed"), File: "internal/journal/feed.go",
		Old:    "	if j.knows(t.partition, t.epoch) {",
		New:    "	if j.setEpoch(t.partition, t.epoch); t.epoch > 0 {",
		Breaks: "Before a program commits its first change in an epoch of a partition, it puts a message for each feed.",
	},
	{
		Name: "feed: open epoch read", Flags: by("TestAFeedDeliversEachChangeInOrder"), File: "patterns/journal/handle.go",
		Old:    "		if d.Epoch, err = engine.Close(ctx, d.Partition, d.Epoch); err != nil {",
		New:    "		if err = ctx.Err(); err != nil {",
		Breaks: "Who receives the message closes the epoch.",
	},
	{
		Name: "feed: message deleted early", Flags: by("TestAFeedDeliversEachChangeInOrder"), File: "patterns/journal/handle.go",
		Old:    "return p.Epoch > d.Epoch && !p.Snapshot",
		New:    "return p.Epoch >= d.Epoch && !p.Snapshot",
		Breaks: "Who receives the message reads all epochs up to it. Only then is the message deleted.",
	},
	{
		Name: "feed: snapshot skipped", Flags: by("TestAFeedStartsWithASnapshotOrNow"), File: "patterns/journal/handle.go",
		Old:    "return p.Epoch > d.Epoch && !p.Snapshot",
		New:    "return p.Epoch > d.Epoch",
		Breaks: "Snapshot delivers each entity, and the changes after it.",
	},
	{
		Name: "feed: position passes a failure", Flags: by("TestAFeedThatFailsSkipsNothing"), File: "patterns/journal/handle.go",
		Old:    "		return delivered, err\n",
		New:    "		_ = delivered\n		return next, err\n",
		Breaks: "If do returns an error, the changes from that one on are delivered again.",
	},
	{
		Name: "feed: no lease", Flags: by("TestWorkersDivideThePartitions"), File: "patterns/journal/handle.go",
		Old:    "lease.TryRun(ctx, func(ctx context.Context, _ int64) error { return d.deliver(ctx, engine) })",
		New:    "true, errors.Join(d.deliver(ctx, engine), lease.Create(ctx))",
		Breaks: "Each partition is delivered by one worker at a time.",
	},
	{
		Name: "feed: position from before the lease", Flags: by("TestWorkersDivideThePartitions"), File: "patterns/journal/handle.go",
		Old:    "	p, err := engine.Position(ctx, d.Partition, d.feed.name)\n	if err != nil || d.isPast(p) {\n		return err\n	}\n	if p.Epoch <= d.Epoch {",
		New:    "	p, err := engine.First(ctx, d.Partition)\n	if err != nil {\n		return err\n	}\n	if p.Epoch <= d.Epoch {",
		Breaks: "The process that has the lease reads the position.",
	},
	{
		Name: "feed: first position not stored", Flags: by("TestAFeedWhosePartitionIsSweptMeanwhile"), File: "patterns/journal/handle.go",
		Old:    "		if p.Epoch > 1 { //",
		New:    "		if p.Epoch > d.Epoch { //",
		Breaks: "A feed without a position stores that of the first epoch that is left before it delivers, unless that is epoch 1.",
	},
	{
		Name: "feed: view gets the first change", Flags: by("TestAViewOutsideTablesGetsTheLastChange"), File: "patterns/journal/handle.go",
		Old:    "if i+1 < len(changes) && changes[i+1].Key == changes[i].Key {",
		New:    "if i > 0 && changes[i-1].Key == changes[i].Key {",
		Breaks: "Of several changes that are read together only the last one is delivered.",
	},
	{
		Name: "feed: end row not marked", Flags: by("TestASweepOfAFeedThatEndsAnywhere"), File: "internal/journal/feed_sweep.go",
		Old:    "edm.Properties{propEpoch: -next})",
		New:    "edm.Properties{propEpoch: next})",
		Breaks: "A sweep marks the end row before it deletes the first change of the epoch.",
	},
	{
		Name: "feed: mark ignored", Flags: by("TestASweepOfAFeedThatEndsAnywhere"), File: "internal/journal/feed.go",
		Old:    "	if follows <= p.Epoch {",
		New:    "	if follows, next.Epoch = max(follows, -follows), max(next.Epoch, -next.Epoch); follows <= p.Epoch {",
		Breaks: "A feed delivers a page of changes only if the end row, read after them, is not marked.",
	},
	{
		Name: "feed: end row deleted first", Flags: by("TestASweepOfAFeedThatEndsAnywhere"), File: "internal/journal/feed_sweep.go",
		Old:    "		if e.Key != end {\n			rows = append(rows, e.Key)\n		}",
		New:    "		rows = append([]keys.Key{e.Key}, rows...)",
		Breaks: "A sweep that dies is continued by the next one.",
	},
	{
		Name: "feed: absence not noticed", Flags: by("TestAFeedThatWasAbsentForTooLong"), File: "internal/journal/feed_sweep.go",
		Old:    "		case p.Epoch == 0 && len(rows) > 0:",
		New:    "		case p.Epoch < 0 && len(rows) > 0:",
		Breaks: "A feed without a position gets one, so that it finds that it has missed the epoch.",
	},
	{
		Name: "feed: one message for an epoch", Flags: by("TestAnotherMessageIsPut"), File: "internal/journal/journal.go",
		Old:    "return known.epoch == epoch && time.Now().Before(known.until)",
		New:    "return known.epoch == epoch",
		Breaks: "If the epoch is not closed in time, the program puts another message.",
	},
	{
		Name: "feed: empty epoch missed", Flags: by("TestEmptyEpochsAreSwept"), File: "internal/journal/feed_sweep.go",
		Old:    "case p.Epoch == epoch && len(rows) == 0 && next > 0:",
		New:    "case p.Epoch < 0:",
		Breaks: "A feed misses nothing if an empty epoch is deleted.",
	},
	{
		Name: "feed: epoch of a deleted partition", Flags: by("TestAFeedAfterItsPartitionWasDeleted"), File: "internal/journal/feed.go",
		Old:    "return min(r.epoch-1, epoch), nil",
		New:    "return epoch, nil",
		Breaks: "Close returns the last epoch that is closed.",
	},
	{
		Name: "feed: marker taken for lost", Flags: by("TestAnEpochThatIsAboutToBegin"), File: "internal/journal/writer.go",
		Old:    "missing && t.epoch == t.read {",
		New:    "missing && !t.first {",
		Breaks: "A marker is lost only if the root had its epoch before and after it was not found.",
	},
	{
		Name: "feed: message of another epoch", Flags: by("TestAFeedDeliversEachChangeInOrder"), File: "internal/journal/feed.go",
		Old:    "return j.feeds[i].Wake(ctx, j.Table(), t.partition, t.epoch, ",
		New:    "return j.feeds[i].Wake(ctx, j.Table(), t.partition, max(t.epoch-1, 1), ",
		Breaks: "The message has the epoch of the change.",
	},
	{
		Name: "feed: first epoch not closed", Flags: by("TestAFeedIsFasterThanTheFirstChange"), File: "internal/journal/feed.go",
		Old:    "			r.epoch, lost = 1, true\n",
		New:    "			return epoch, nil\n",
		Breaks: "Who begins the journal finds its first epoch closed.",
	},
}
