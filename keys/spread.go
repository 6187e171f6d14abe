package keys

import (
	"fmt"
	"strconv"
)

// MaxBuckets is the largest Spread. Reading everything costs one query a bucket,
// so a few dozen already are many.
const MaxBuckets = 10_000

// Spread divides one busy partition into a fixed number of hash buckets: the
// remedy for keys that grow with time, where all writes meet in the newest
// partition. Writers choose the bucket by an id; readers of the whole merge all
// buckets. The zero Spread has one bucket. See
// https://learn.microsoft.com/azure/storage/tables/table-storage-design-patterns#prependappend-anti-pattern.
//
// The number of buckets and the hash are part of the stored keys: neither may
// change while rows remain. The bucket of an id is h mod N, where h is the 64 bit
// FNV-1a hash of its UTF-8 bytes, its upper 32 bits xored onto its lower 32 bits.
type Spread struct{ buckets, width int }

// NewSpread makes a Spread of 1 to MaxBuckets buckets; any other number is an
// *Error.
func NewSpread(buckets int) (*Spread, error) {
	if buckets < 1 || buckets > MaxBuckets {
		return nil, &Error{Part: "NewSpread", Reason: BadDefinition, Offset: -1,
			Detail: fmt.Sprintf("%d buckets; there are 1 to %d", buckets, MaxBuckets)}
	}
	return &Spread{buckets: buckets, width: max(2, len(strconv.Itoa(buckets-1)))}, nil
}

// Buckets is the number of buckets.
func (s *Spread) Buckets() int { return max(1, s.buckets) }

// Bucket gives the bucket of id, from 0 to Buckets()-1.
func (s *Spread) Bucket(id string) int {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return int((h>>32 ^ h) & 0xFFFFFFFF % uint64(s.Buckets()))
}

// Partition gives the partition of base that id belongs to: the number of the
// bucket, "_", and base. Of 16 buckets the id "evt00005" falls into the eighth, so
// Partition("2014073118", "evt00005") is "07_2014073118". The number has the digits of the
// last bucket, and two at least. base is taken as it is, so it has to be legal,
// and short enough for what is put in front of it.
func (s *Spread) Partition(base, id string) string { return s.name(s.Bucket(id), base) }

// Partitions gives all partitions of base, in key order, for reading.
func (s *Spread) Partitions(base string) []string {
	all := make([]string, s.Buckets())
	for i := range all {
		all[i] = s.name(i, base)
	}
	return all
}

// Base reads the base back from a partition that Partition or Partitions gave.
// Text that is none of this Spread is an *Error.
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
		return "", &Error{Part: "Base", Reason: OutOfRange, Offset: -1, Detail: "no such bucket"}
	}
	return partition[width+1:], nil
}

func (s *Spread) name(bucket int, base string) string {
	number := strconv.Itoa(bucket)
	const zeros = "0000"
	return zeros[:max(2, s.width)-len(number)] + number + "_" + base
}
