package heat

import (
	"fmt"
	"hash/maphash"
	"strings"
)

var seed = maphash.MakeSeed()

// Label is the default of [Options.Label]: the text of a key before its first digit, and a
// hash of the rest. "Sales_000123" becomes "Sales_#5c0f1e". The hash is different in each
// process, so that keys cannot be guessed and compared. A key without a digit is shown as it
// is; set Options.Label if such keys are private.
func Label(key string) string {
	i := strings.IndexAny(key, "0123456789")
	if i < 0 {
		return key
	}
	return fmt.Sprintf("%s#%06x", key[:i], maphash.String(seed, key[i:])&0xffffff)
}

// placeParts returns the resource, the partition key and the row key of a place.
func placeParts(p string) (resource, partition, row string) {
	resource, rest, _ := strings.Cut(p, "\x00")
	partition, row, _ = strings.Cut(rest, "\x00")
	return resource, partition, row
}

// resourceName returns the name of a resource for people.
func resourceName(resource string) string {
	switch {
	case resource == "":
		return "(before)"
	case len(resource) == 1:
		return "(account)"
	case resource[0] == 'q':
		return "queue " + resource[1:]
	case resource[0] == 'b':
		return "container " + resource[1:]
	}
	return resource[1:]
}
