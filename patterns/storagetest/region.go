package storagetest

import (
	"slices"
	"time"
)

// Region is one of the two locations of an account with a read-only secondary.
type Region string

// The regions.
const (
	Primary   Region = "primary"
	Secondary Region = "secondary"
)

// The addresses of the services in the secondary region, for clients that use the
// [Account.Transport]. At the addresses of [Account.Serve], "-secondary" follows the name of
// the account. Requests are signed with the same key.
const (
	SecondaryTablesURL = "https://" + AccountName + "-secondary.table.storagetest.invalid"
	SecondaryQueuesURL = "https://" + AccountName + "-secondary.queue.storagetest.invalid"
	SecondaryBlobsURL  = "https://" + AccountName + "-secondary.blob.storagetest.invalid"
)

// Replicate adds a read-only secondary to the account, which contains every change lag after
// it was made. The first call copies the account; later calls change the lag, but the
// secondary never goes back to an older state. Before the first call, every request to the
// secondary is refused with 403 InsufficientAccountPermissions, as writes always are.
//
// The Last Sync Time, which Get Service Stats returns, is lag ago, rounded down to a second.
// It stays the same while a region is down. Queues and blobs are copied as a whole after
// each change, which is slow for large ones.
func (a *Account) Replicate(lag time.Duration) {
	a.script()
	a.core.Replicate(lag)
}

// Down begins an outage of these regions, and ends that of the others: Down() ends all. A
// request to a region that is down is not carried out, and its sender receives a
// [*LostError]. The secondary receives no changes while either region is down, and all that
// are due when the outage ends.
func (a *Account) Down(regions ...Region) {
	a.script()
	a.core.SetDown(slices.Contains(regions, Primary), slices.Contains(regions, Secondary))
}
