package keys

import (
	"fmt"
	"strconv"
)

// MaxBuckets is the maximum number of buckets of a Spread. Reading everything costs
// at least one query per bucket, so a few dozen buckets are already many.
const MaxBuckets = 10_000

// Spread divides a busy partition into a fixed number of hash buckets. It is the
// remedy for partition keys that increase with time, which send all writes to the
// newest partition. The bucket of a row is a hash of its id. Reading all rows means
// merging all buckets. The zero Spread has one bucket. See
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#prependappend-anti-pattern.
//
// The number of buckets and the hash determine the stored keys: neither may change while
// rows exist. The bucket of an id is h mod N, for N buckets and the 32-bit h that is the
// upper half of the 64-bit FNV-1a hash of the id's UTF-8 bytes, xored with the lower
// half. A Spread is an immutable value and safe for concurrent use.
type Spread struct{ buckets, width int }

// NewSpread returns a Spread with 1 to MaxBuckets buckets. Any other number is an
// *Error.
func NewSpread(buckets int) (*Spread, error) {
	if buckets < 1 || buckets > MaxBuckets {
		return nil, &Error{Part: "NewSpread", Reason: BadDefinition, Offset: -1,
			Detail: fmt.Sprintf("%d buckets, want 1 to %d", buckets, MaxBuckets)}
	}
	return &Spread{buckets: buckets, width: max(2, len(strconv.Itoa(buckets-1)))}, nil
}

// Buckets returns the number of buckets.
func (s *Spread) Buckets() int { return max(1, s.buckets) }

// Bucket returns the bucket of id, from 0 to Buckets()-1.
func (s *Spread) Bucket(id string) int {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return int((h>>32 ^ h) & 0xFFFFFFFF % uint64(s.Buckets()))
}

// Partition returns the partition key of id: the number of its bucket, "_", and base.
// With 16 buckets, the bucket of the id "evt00005" is 7, so
// Partition("2014073118", "evt00005") is "07_2014073118". The number has as many
// digits as the last bucket, and at least two. Partition does not check base: it must
// be legal key text, and short enough for the prepended number.
func (s *Spread) Partition(base, id string) string { return s.name(s.Bucket(id), base) }

// Partitions returns the partition keys of all buckets of base, in key order, for
// reading.
func (s *Spread) Partitions(base string) []string {
	all := make([]string, s.Buckets())
	for i := range all {
		all[i] = s.name(i, base)
	}
	return all
}

// Base returns the base of a partition key that Partition or Partitions returned. It
// returns an *Error for other text.
func (s *Spread) Base(partition string) (string, error) {
	width := max(2, s.width)
	if len(partition) <= width || partition[width] != '_' {
		return "", &Error{Part: "Base", Reason: Malformed, Offset: -1, Detail: fmt.Sprintf("want %d digits and a separator", width)}
	}
	n, err := parseDigits("Base", partition[:width])
	if err != nil {
		return "", err
	}
	if n >= uint64(s.Buckets()) {
		return "", &Error{Part: "Base", Reason: OutOfRange, Offset: -1, Detail: "the bucket does not exist"}
	}
	return partition[width+1:], nil
}

func (s *Spread) name(bucket int, base string) string {
	number := strconv.Itoa(bucket)
	const zeros = "0000"
	return zeros[:max(2, s.width)-len(number)] + number + "_" + base
}
