package auth

import "net/url"

// The strings to sign contain the decoded values, one per line, including empty values.

func accountText(account string, q url.Values) string {
	text := lines(account, q.Get("sp"), q.Get("ss"), q.Get("srt"), q.Get("st"), q.Get("se"),
		q.Get("sip"), q.Get("spr"), q.Get("sv")) + "\n"
	if q.Get("sv") >= encryptionVersion {
		text += q.Get("ses") + "\n"
	}
	return text
}

func tableText(account, table string, q url.Values) string {
	return lines(serviceText("/table/"+account+"/"+table, q),
		q.Get("spk"), q.Get("srk"), q.Get("epk"), q.Get("erk"))
}

func queueText(account, queue string, q url.Values) string {
	return serviceText("/queue/"+account+"/"+queue, q)
}

func blobText(account, container, blob string, q url.Values) string {
	resource := "/blob/" + account + "/" + container
	if blob != "" {
		resource += "/" + blob
	}
	text := serviceText(resource, q)
	if version := q.Get("sv"); version >= resourceVersion {
		snapshot := q.Get("snapshot")
		if q.Get("sr") == "c" { // it permits access to all snapshots
			snapshot = ""
		}
		text = lines(text, q.Get("sr"), snapshot)
		if version >= encryptionVersion {
			text = lines(text, q.Get("ses"))
		}
	}
	return lines(text, q.Get("rscc"), q.Get("rscd"), q.Get("rsce"), q.Get("rscl"), q.Get("rsct"))
}

// serviceText returns the beginning of the texts of all service SAS.
func serviceText(resource string, q url.Values) string {
	return lines(q.Get("sp"), q.Get("st"), q.Get("se"), resource, q.Get("si"),
		q.Get("sip"), q.Get("spr"), q.Get("sv"))
}
