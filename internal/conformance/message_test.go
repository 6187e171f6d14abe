package conformance

import "strings"

// text returns the body of a message.
func text(s string) string {
	return "<QueueMessage><MessageText>" + s + "</MessageText></QueueMessage>"
}

// https://learn.microsoft.com/rest/api/storageservices/put-message
func putMessageCases() []conversation {
	put := func(name, query, want string) conversation {
		return one("a message put with "+name, "POST /{Q}/messages?"+query, "", text("x"), want)
	}
	all := []conversation{
		{"a put returns the receipt", []step{
			{"POST /{Q}/messages", text("hello"), "", "201 ~ <MessageId>{=id}</MessageId> ~ <InsertionTime>{*} GMT</InsertionTime> ~ <ExpirationTime>{*} GMT</ExpirationTime> ~ <PopReceipt>{=pop}</PopReceipt> ~ <TimeNextVisible> !~ MessageText"},
			{"GET /{Q}/messages?peekonly=true", "", "", "200 ~ <MessageId>{id}</MessageId> ~ <MessageText>hello</MessageText>"},
		}},
		{"the receipt of a put deletes the message", []step{
			{"POST /{Q}/messages", text("hello"), "", "201 ~ <MessageId>{=id}</MessageId> ~ <PopReceipt>{=pop}</PopReceipt>"},
			{"DELETE /{Q}/messages/{id}?popreceipt={pop}", "", "", "204"},
			{"GET /{Q}/messages", "", "", "200 !~ <MessageId>"},
		}},
		{"a message put with a delay is invisible", []step{
			{"POST /{Q}/messages?visibilitytimeout=60", text("later"), "", "201"},
			{"GET /{Q}/messages", "", "", "200 !~ <MessageId>"}, {"GET /{Q}/messages?peekonly=true", "", "", "200 !~ <MessageId>"},
			{"GET /{Q}?comp=metadata", "", "", "200 ~ Messages-Count: 1"},
		}},
		{"a message that never expires", []step{
			{"POST /{Q}/messages?messagettl=-1", text("x"), "", "201 ~ <ExpirationTime>{*} 9999 {*}</ExpirationTime>"},
		}},
		put("a lifetime of a second", "messagettl=1", "201"),
		put("a lifetime of a year", "messagettl=31536000", "201"),
		put("a lifetime of more than 32 bits", "messagettl=4294967296", "201 ~ <ExpirationTime>{*}</ExpirationTime>"),
		put("a lifetime of ten thousand years", "messagettl=315360000000", "201 ~ <ExpirationTime>{*} 9999 {*}</ExpirationTime>"),
		put("a lifetime of 0", "messagettl=0", "400 OutOfRangeQueryParameterValue"),
		put("a lifetime of -2", "messagettl=-2", "400 OutOfRangeQueryParameterValue"),
		put("a lifetime that is not a number", "messagettl=long", "400 InvalidQueryParameterValue"),
		put("a delay of a week", "visibilitytimeout=604799", "201"),
		put("a delay of more than a week", "visibilitytimeout=604801&messagettl=-1", "400 OutOfRangeQueryParameterValue"),
		put("a delay below 0", "visibilitytimeout=-1", "400 OutOfRangeQueryParameterValue"),
		put("a delay equal to its lifetime", "visibilitytimeout=60&messagettl=60", "400 InvalidQueryParameterValue"),
		put("a delay longer than its lifetime", "visibilitytimeout=61&messagettl=60", "400 InvalidQueryParameterValue"),
		put("a delay that is not a number", "visibilitytimeout=soon", "400 InvalidQueryParameterValue"),
		one("a message to a missing queue", "POST /{Q}none/messages", "", text("x"), "404 QueueNotFound"),
		one("a message of 64 KiB", "POST /{Q}/messages", "", text(strings.Repeat("x", 64<<10)), "201"),
		one("a message over 64 KiB", "POST /{Q}/messages", "", text(strings.Repeat("x", 64<<10+1)), "413 RequestBodyTooLarge"),
		one("a message over 64 KiB in UTF-8", "POST /{Q}/messages", "", text(strings.Repeat("é", 32<<10+1)), "413 RequestBodyTooLarge"),
		one("a body of a megabyte", "POST /{Q}/messages", "", text(strings.Repeat("x", 1<<20)), "413 RequestBodyTooLarge"),
		one("a body that is not XML", "POST /{Q}/messages", "", "hello", "400 InvalidXmlDocument"),
		one("a body that breaks off", "POST /{Q}/messages", "", "<QueueMessage><MessageText>x", "400 InvalidXmlDocument"),
		one("a body with another root", "POST /{Q}/messages", "", "<Message><MessageText>x</MessageText></Message>", "400 InvalidXmlDocument"),
		one("a body without text", "POST /{Q}/messages", "", "<QueueMessage/>", "400 InvalidXmlDocument"),
		one("no body", "POST /{Q}/messages", "", "", "400 InvalidXmlDocument"),
	}
	for _, s := range []struct{ title, sent, got string }{
		{"base64", "aGVsbG8=", "aGVsbG8="},
		{"references", "&lt;a&gt;&amp;&quot;&#39;", "&lt;a&gt;&amp;"},
		{"the empty text", "", ""},
		{"letters beyond ASCII", "Grüße 😀", "Grüße 😀"},
		{"blanks at its ends", " a ", " a "},
	} {
		all = append(all, conversation{"a text of " + s.title + " comes back", []step{
			{"POST /{Q}/messages", text(s.sent), "", "201"},
			{"GET /{Q}/messages", "", "", "200 ~ <MessageText" + map[bool]string{true: "", false: ">" + s.got}[s.got == ""]},
		}})
	}
	return all
}

// https://learn.microsoft.com/rest/api/storageservices/get-messages
// https://learn.microsoft.com/rest/api/storageservices/peek-messages
func getMessageCases() []conversation {
	put := step{"POST /{Q}/messages", text("a"), "", "201 ~ <MessageId>{=id}</MessageId>"}
	refused := func(name, query, want string) conversation {
		return conversation{"a get with " + name, []step{put, {"GET /{Q}/messages?" + query, "", "", want}}}
	}
	return []conversation{
		{"an empty queue returns an empty list", []step{{"GET /{Q}/messages", "", "", "200 ~ <QueueMessagesList !~ <QueueMessage>"}}},
		{"a get hides the message", []step{put,
			{"GET /{Q}/messages", "", "", "200 ~ <MessageId>{id}</MessageId> ~ <PopReceipt> ~ <TimeNextVisible> ~ <DequeueCount>1</DequeueCount> ~ <MessageText>a</MessageText> ~ Cache-Control: no-cache"},
			{"GET /{Q}/messages", "", "", "200 !~ <QueueMessage>"},
			{"GET /{Q}/messages?peekonly=true", "", "", "200 !~ <QueueMessage>"},
		}},
		{"a peek leaves the message as it is", []step{put,
			{"GET /{Q}/messages?peekonly=true", "", "", "200 ~ <DequeueCount>0</DequeueCount> ~ <MessageText>a</MessageText> !~ PopReceipt !~ TimeNextVisible"},
			{"GET /{Q}/messages?peekonly=true", "", "", "200 ~ <DequeueCount>0</DequeueCount>"},
			{"GET /{Q}/messages", "", "", "200 ~ <DequeueCount>1</DequeueCount>"},
		}},
		{"one message is the default", []step{put, put, {"GET /{Q}/messages", "", "", "200 ~ <QueueMessage> !~ </QueueMessage><QueueMessage>"}}},
		{"several messages in one request", []step{put, put, {"GET /{Q}/messages?numofmessages=32", "", "", "200 ~ </QueueMessage><QueueMessage>"}}},
		{"each delivery of a message is counted", []step{put,
			{"GET /{Q}/messages?visibilitytimeout=60", "", "", "200 ~ <MessageId>{=id}</MessageId><InsertionTime>{*}</InsertionTime><ExpirationTime>{*}</ExpirationTime><PopReceipt>{=pop}</PopReceipt>"},
			{"PUT /{Q}/messages/{id}?popreceipt={pop}&visibilitytimeout=0", "", "", "204"},
			{"GET /{Q}/messages", "", "", "200 ~ <DequeueCount>2</DequeueCount> ~ <MessageText>a</MessageText>"},
		}},
		refused("33 messages", "numofmessages=33", "400 OutOfRangeQueryParameterValue"),
		refused("a count of 0", "numofmessages=0", "400 OutOfRangeQueryParameterValue"),
		refused("a count that is not a number", "numofmessages=all", "400 InvalidQueryParameterValue"),
		refused("a visibility of 0", "visibilitytimeout=0", "400 OutOfRangeQueryParameterValue"),
		refused("a visibility of a week", "visibilitytimeout=604800", "200 ~ <QueueMessage>"),
		refused("a visibility of more than a week", "visibilitytimeout=604801", "400 OutOfRangeQueryParameterValue"),
		refused("33 messages to peek", "peekonly=true&numofmessages=33", "400 OutOfRangeQueryParameterValue"),
		one("a get from a missing queue", "GET /{Q}none/messages", "", "", "404 QueueNotFound"),
		one("a peek at a missing queue", "GET /{Q}none/messages?peekonly=true", "", "", "404 QueueNotFound"),
		{"clearing takes all messages", []step{put, put,
			{"GET /{Q}/messages", "", "", "200"},
			{"DELETE /{Q}/messages", "", "", "204"},
			{"GET /{Q}?comp=metadata", "", "", "200 ~ Messages-Count: 0"},
		}},
		one("clearing a missing queue", "DELETE /{Q}none/messages", "", "", "404 QueueNotFound"),
	}
}

// got returns steps that first put and get a message; rest may use its id and receipt.
func got(rest ...step) []step {
	return append([]step{
		{"POST /{Q}/messages", text("a"), "", "201 ~ <MessageId>{=id}</MessageId> ~ <PopReceipt>{=first}</PopReceipt>"},
		{"GET /{Q}/messages", "", "", "200 ~ <PopReceipt>{=pop}</PopReceipt>"},
	}, rest...)
}

// https://learn.microsoft.com/rest/api/storageservices/update-message
// https://learn.microsoft.com/rest/api/storageservices/delete-message2
func updateMessageCases() []conversation {
	const at = "/{Q}/messages/{id}?popreceipt="
	refused := func(name, query, want string) conversation {
		return conversation{"an update with " + name, got(step{"PUT " + at + "{pop}&" + query, text("b"), "", want})}
	}
	return []conversation{
		{"an update returns a new receipt and text", got(
			step{"PUT " + at + "{pop}&visibilitytimeout=0", text("b"), "", "204 ~ X-Ms-Popreceipt: {=next} ~ X-Ms-Time-Next-Visible: {*} GMT"},
			step{"DELETE " + at + "{pop}", "", "", "400 PopReceiptMismatch"},
			step{"GET /{Q}/messages?peekonly=true", "", "", "200 ~ <MessageText>b</MessageText> ~ <DequeueCount>1</DequeueCount>"},
			step{"DELETE " + at + "{next}", "", "", "204"},
		)},
		{"an update hides the message for longer", got(
			step{"PUT " + at + "{pop}&visibilitytimeout=600", text("b"), "", "204"},
			step{"GET /{Q}/messages", "", "", "200 !~ <QueueMessage>"},
		)},
		{"an update without a body keeps the text", got(
			step{"PUT " + at + "{pop}&visibilitytimeout=0", "", "", "204"},
			step{"GET /{Q}/messages", "", "", "200 ~ <MessageText>a</MessageText>"},
		)},
		{"an update with an empty text clears it", got(
			step{"PUT " + at + "{pop}&visibilitytimeout=0", text(""), "", "204"},
			step{"GET /{Q}/messages", "", "", "200 ~ <MessageText !~ <MessageText>a"},
		)},
		{"a get invalidates the receipt of the put", got(step{"DELETE " + at + "{first}", "", "", "400 PopReceiptMismatch"})},
		{"an update of a deleted message", got(
			step{"DELETE " + at + "{pop}", "", "", "204"},
			step{"PUT " + at + "{pop}&visibilitytimeout=0", text("b"), "", "404 MessageNotFound"},
			step{"DELETE " + at + "{pop}", "", "", "404 MessageNotFound"},
		)},
		{"an update after a clear", got(step{"DELETE /{Q}/messages", "", "", "204"}, step{"PUT " + at + "{pop}&visibilitytimeout=0", text("b"), "", "404 MessageNotFound"})},
		refused("a visibility of more than a week", "visibilitytimeout=604801", "400 OutOfRangeQueryParameterValue"),
		refused("a visibility below 0", "visibilitytimeout=-1", "400 OutOfRangeQueryParameterValue"),
		refused("a visibility that is not a number", "visibilitytimeout=long", "400 InvalidQueryParameterValue"),
		{"an update beyond the lifetime of a message", []step{
			{"POST /{Q}/messages?messagettl=100", text("a"), "", "201 ~ <MessageId>{=id}</MessageId> ~ <PopReceipt>{=pop}</PopReceipt>"},
			{"PUT " + at + "{pop}&visibilitytimeout=200", text("b"), "", "400 OutOfRangeQueryParameterValue"},
		}},
		{"an update without a visibility", got(step{"PUT " + at + "{pop}", text("b"), "", "400 MissingRequiredQueryParameter"})},
		{"an update that is too large", got(step{"PUT " + at + "{pop}&visibilitytimeout=0", text(strings.Repeat("x", 64<<10+1)), "", "413 RequestBodyTooLarge"})},
	}
}

func messageRefusals() []conversation {
	return []conversation{
		{"an update without a receipt", got(step{"PUT /{Q}/messages/{id}?visibilitytimeout=0", text("b"), "", "400 MissingRequiredQueryParameter"})},
		{"a delete without a receipt", got(step{"DELETE /{Q}/messages/{id}", "", "", "400 MissingRequiredQueryParameter"})},
		{"a delete with a made-up receipt", got(step{"DELETE /{Q}/messages/{id}?popreceipt=AgAAAAMAAAAAAAAAAAAAAA%3D%3D", "", "", "400 PopReceiptMismatch"})},
		{"a delete of a message that never existed", got(step{"DELETE /{Q}/messages/00000000-0000-0000-0000-000000000000?popreceipt={pop}", "", "", "404 MessageNotFound"})},
		one("a message of a missing queue", "DELETE /{Q}none/messages/1?popreceipt=x", "", "", "404 QueueNotFound"),
		one("no credential", "GET /{Q}/messages", "Authorization: none", "", "401 NoAuthenticationInformation"),
		one("a wrong signature", "GET /{Q}/messages", "Authorization: SharedKey devstoreaccount1:AAAA", "", "403 AuthenticationFailed"),
		one("a signature to read", "GET /{Q}/messages?peekonly=true", "Sas: q={Q}&sp=r", "", "200"),
		one("a signature to add does not read", "GET /{Q}/messages?peekonly=true", "Sas: q={Q}&sp=a", "", "403 AuthorizationPermissionMismatch"),
		one("two signatures", "GET /{Q}/messages?peekonly=true", "Sas: q={Q}&sp=r&sig=AAAA", "", "403 AuthenticationFailed"),
		one("an unknown scheme", "GET /{Q}/messages", "Authorization: Digest x", "", "400 InvalidAuthenticationInfo"),
		one("an invalid version", "GET /{Q}/messages", "x-ms-version: yesterday", "", "400 InvalidHeaderValue"),
	}
}
