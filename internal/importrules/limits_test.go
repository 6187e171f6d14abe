package importrules

const (
	module  = "github.com/azpatterns/azpatterns"
	sdk     = "github.com/Azure/azure-sdk-for-go/sdk"
	azqueue = sdk + "/storage/azqueue"
	azblob  = sdk + "/storage/azblob"
	azident = sdk + "/azidentity"
)

// heavy lists the packages that a program must link only if it uses what needs them, and which packages of the module
// may link them. "a/..." is a and every package below it.
var heavy = map[string][]string{
	azqueue: {
		"examples/...",
		"internal/bench/...",
		"internal/connect",
		"internal/harness",
		"internal/search",
		"patterns/eventual",
		"patterns/journal",
		"patterns/shards",
		"patterns/storagetest",
		"patterns/tablectl",
	},
	azblob: {
		"examples/...",
		"internal/bench/...",
		"internal/connect",
		"internal/harness",
		"internal/search",
		"patterns/eventual",
		"patterns/indexentity",
		"patterns/journal",
		"patterns/largeentity",
		"patterns/logdata",
		"patterns/shards",
		"patterns/storagetest",
		"patterns/tablectl",
	},
	azident: {"examples/...", "internal/harness", "internal/search", "patterns/tablectl"},
	"testing": {
		"examples/...",
		"internal/azurite",
		"internal/bench/...",
		"internal/harness",
		"internal/mutation",
		"internal/search",
		"patterns/storagetest",
		"patterns/storagetest/internal/servicetest",
		"patterns/tablectl",
	},
	"pgregory.net/rapid":                {},
	"github.com/anishathalye/porcupine": {"internal/harness", "internal/search"},
	module + "/internal/azurite": {
		"examples/...",
		"internal/azurite",
		"internal/bench/...",
		"internal/harness",
		"internal/search",
	},
}

// pure are the packages that link nothing of the SDK.
var pure = []string{"internal/azerr", "keys", "patterns/types", "query"}

// maxFiles is the largest number of Go files of a package, without its tests.
const maxFiles = 25

// engineOnly are the packages that no pattern package may import: patterns use package patterns and the engine above
// these.
var engineOnly = []string{"internal/edm", "internal/wire"}
