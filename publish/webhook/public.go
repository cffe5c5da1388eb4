package webhook

import (
	"fmt"
	"net/netip"

	"github.com/contextosai/packgate/finding/fault"
)

// special are the ranges of addresses, of those that look like public ones, that are not: the entries of the
// registries of special-purpose addresses (RFC 6890 and what IANA has added) that are not reachable by
// everybody or stand for another address, and the address at which the machines of one cloud ask for
// their own settings.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

// global is what is given out of IPv6 to be reached by everybody. All else is special: loopback, link-local
// and unique local addresses, multicast, and those that stand for an address of IPv4.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// Public returns nil for the address of a connection, IP and port, that everybody can reach; an address
// of IPv4 that is written as one of IPv6 is what it stands for. The error is of kind ErrAddress.
func Public(address string) error {
	refuse := func(why string) error {
		return &fault.Error{Kind: ErrAddress, Message: fmt.Sprintf("%q is %s", address, why)}
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse("not an address with a port")
	}
	ip := to.Addr()
	if ip.Zone() != "" {
		return refuse("an address that is valid in one network only")
	}
	if ip = ip.Unmap(); ip.Is6() && !global.Contains(ip) {
		return refuse("not an address of the public internet")
	}
	for _, p := range special {
		if p.Contains(ip) {
			return refuse("not an address of the public internet")
		}
	}
	return nil
}
