package auth

import (
	"net/http"
	"strings"
)

// Path returns the decoded path of r below the account, without the leading
// slash: "T(PartitionKey='a',RowKey='b')", "queue/messages", "container/a/blob".
// The account is either the first label of the host or the first segment of the
// path; the secondary endpoint counts as the account.
func Path(r *http.Request, account string) string {
	path := strings.TrimPrefix(r.URL.Path, "/")
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	if label, _, ok := strings.Cut(host, "."); ok && isAccount(label, account) {
		return path
	}
	if first, rest, _ := strings.Cut(path, "/"); isAccount(first, account) {
		return rest
	}
	return path
}

func isAccount(s, account string) bool {
	return account != "" && (s == account || s == account+"-secondary")
}
