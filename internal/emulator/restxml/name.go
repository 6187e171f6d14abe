package restxml

// CheckName applies the rule that containers and queues share: 3 to 63 lower-case
// letters, digits and single dashes, letter or digit at both ends.
// https://learn.microsoft.com/rest/api/storageservices/naming-queues-and-metadata
func CheckName(name string) *Error {
	if len(name) < 3 || len(name) > 63 {
		return NameLength()
	}
	dash := true // so that a dash is refused in front
	for i := range len(name) {
		b := name[i]
		switch {
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9':
			dash = false
		case b == '-' && !dash:
			dash = true
		default:
			return InvalidName()
		}
	}
	if dash {
		return InvalidName()
	}
	return nil
}
