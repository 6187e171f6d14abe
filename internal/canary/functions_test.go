package canary_test

import (
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

type (
	keyless struct{ Name string }
	untimed struct{ PartitionKey, RowKey string }
	unknown struct{ C chan int }
)

// functions are the exported functions that are no methods, some of them also with types that are refused. Reflection
// cannot list the functions of a package, or instantiate one.
var functions = []function{
	{"access.Sign", access.Sign},
	{"compoundkey.New", compoundkey.New[person, person]},
	{"dataseries.New", dataseries.New[int64]},
	{"dataseries.Steps", dataseries.Steps},
	{"denormalize.Inter", denormalize.Inter[person]},
	{"denormalize.Intra", denormalize.Intra[person]},
	{"encryption.NewEnvelope", encryption.NewEnvelope},
	{"encryption.ReadRing", encryption.ReadRing},
	{"encryption.RingOf", encryption.RingOf},
	{"entitytype.New", entitytype.New},
	{"entitytype.NewRegistry", entitytype.NewRegistry},
	{"entitytype.Register", entitytype.Register[person]},
	{"entitytype.Register", entitytype.Register[int]},
	{"eventual.BlobName", eventual.BlobName},
	{"eventual.Enqueue", eventual.Enqueue[payload]},
	{"eventual.Enqueue", eventual.Enqueue[string]},
	{"eventual.Enqueue", eventual.Enqueue[any]},
	{"eventual.Move", eventual.Move},
	{"eventual.MoveToBlob", eventual.MoveToBlob},
	{"eventual.NewClaims", eventual.NewClaims},
	{"eventual.NewLease", eventual.NewLease},
	{"eventual.NewOutbox", eventual.NewOutbox},
	{"eventual.NewPoisonQueue", eventual.NewPoisonQueue},
	{"eventual.NewWorker", eventual.NewWorker},
	{"govern.New", govern.New},
	{"expiry.At", expiry.At[person]},
	{"heat.Check", heat.Check},
	{"heat.Load", heat.Load},
	{"highvolumedelete.New", highvolumedelete.New[person]},
	{"highvolumedelete.New", highvolumedelete.New[untimed]},
	{"indexentity.Inter", indexentity.Inter[person]},
	{"indexentity.InterBlob", indexentity.InterBlob[person]},
	{"indexentity.Intra", indexentity.Intra[person]},
	{"journal.NewFeed", journal.NewFeed},
	{"journal.Of", journal.Of[person]},
	{"keys.Blind", keys.Blind},
	{"keys.Check", keys.Check},
	{"keys.Digits", keys.Digits},
	{"keys.Float64", keys.Float64},
	{"keys.InvertedTicks", keys.InvertedTicks},
	{"keys.InvertedTicksRange", keys.InvertedTicksRange},
	{"keys.NewLayout", keys.NewLayout[chan int]},
	{"keys.NewSpread", keys.NewSpread},
	{"keys.ParseDigits", keys.ParseDigits},
	{"keys.ParseFloat64", keys.ParseFloat64},
	{"keys.ParseInt64", keys.ParseInt64},
	{"keys.ParseInvertedTicks", keys.ParseInvertedTicks},
	{"keys.ParseTicks", keys.ParseTicks},
	{"keys.ParseUUID", keys.ParseUUID},
	{"keys.Ticks", keys.Ticks},
	{"keys.TicksRange", keys.TicksRange},
	{"keys.Unescape", keys.Unescape},
	{"largeentity.New", largeentity.New[document]},
	{"largeentity.New", largeentity.New[person]},
	{"logdata.NewHandler", logdata.NewHandler},
	{"logdata.NewReader", logdata.NewReader},
	{"logdata.NewWriter", logdata.NewWriter},
	{"logtail.New", logtail.New[chan int]},
	{"logtail.New", logtail.New[person]},
	{"patterns.DecodeJSON", patterns.DecodeJSON[person]},
	{"patterns.Discriminate", patterns.Discriminate},
	{"patterns.EncodeJSON", patterns.EncodeJSON[person]},
	{"patterns.EncodeRow", patterns.EncodeRow[person]},
	{"patterns.NewStore", patterns.NewStore[person]},
	{"patterns.NewTable", patterns.NewTable[chan int]},
	{"patterns.NewTable", patterns.NewTable[keyless]},
	{"patterns.NewTable", patterns.NewTable[person]},
	{"patterns.Project", patterns.Project[unknown, person]},
	{"query.Parse", query.Parse},
	{"regions.NewTable", regions.NewTable[person]},
	{"reindex.Backfill", reindex.Backfill[person]},
	{"reindex.NewRuns", reindex.NewRuns[person]},
	{"reindex.Repair", reindex.Repair[person]},
	{"reindex.Survey", reindex.Survey},
	{"reindex.Verify", reindex.Verify[person]},
	{"secondaryindex.Inter", secondaryindex.Inter[person]},
	{"secondaryindex.Intra", secondaryindex.Intra[person]},
	{"secondaryindex.Lookup", secondaryindex.Lookup[person]},
	{"shards.New", shards.New},
	{"shards.NewStore", shards.NewStore[person]},
	{"shards.NewTable", shards.NewTable[unknown]},
	{"wideentity.New", wideentity.New[chan int]},
	{"wideentity.New", wideentity.New[person]},
}
