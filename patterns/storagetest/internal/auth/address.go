package auth

import (
	"net/netip"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// addresses is the value of sip: one address, or a range that includes both ends.
type addresses struct{ first, last netip.Addr }

func parseAddresses(s string) (addresses, error) {
	from, to, ranged := strings.Cut(s, "-")
	first, err := netip.ParseAddr(from)
	if err != nil {
		return addresses{}, err
	}
	last := first
	if ranged {
		if last, err = netip.ParseAddr(to); err != nil {
			return addresses{}, err
		}
	}
	return addresses{first.Unmap(), last.Unmap()}, nil
}

func (a addresses) contain(ip netip.Addr) bool {
	return a.first.Compare(ip) <= 0 && ip.Compare(a.last) <= 0
}

// source returns the address that r comes from, the loopback address for a client in
// this process.
func source(r *request.Request) netip.Addr {
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return at.Addr().Unmap()
	}
	if ip, err := netip.ParseAddr(r.RemoteAddr); err == nil {
		return ip.Unmap()
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}
