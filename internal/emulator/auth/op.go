package auth

import "strings"

// Op is an operation of a service, as far as permissions tell it from others.
type Op uint8

// The operations. Where a write may create or overwrite, the service asks for
// the one that is about to happen.
const (
	// Any service.
	GetServiceProperties Op = iota // and statistics
	SetServiceProperties
	GetACL // of a table, queue or container
	SetACL

	// Tables. Insert, update (replace or merge with If-Match), upsert.
	ListTables
	CreateTable
	DeleteTable
	QueryEntities // queries and point reads
	InsertEntity
	UpdateEntity
	UpsertEntity // insert or replace, insert or merge: without If-Match
	DeleteEntity

	// Queues.
	ListQueues
	CreateQueue
	DeleteQueue
	GetQueueMetadata // and the approximate count
	SetQueueMetadata
	PutMessage
	GetMessages
	PeekMessages
	UpdateMessage
	DeleteMessage
	ClearMessages

	// Containers and blobs.
	ListContainers
	CreateContainer
	DeleteContainer
	GetContainer // properties and metadata
	SetContainerMetadata
	LeaseContainer
	BreakContainerLease
	ListBlobs
	ReadBlob   // content, properties, metadata, block list; source of a copy
	CreateBlob // put, copy to, or snapshot: a blob that did not exist
	WriteBlob  // overwrite, blocks, block list, properties, metadata, tier, seal, abort copy
	AppendBlock
	DeleteBlob
	LeaseBlob // acquire, renew, change, release
	BreakBlobLease
	TagBlob // read and write the tags
	GetAccountInfo

	ops = iota
)

// rule says what an operation needs. Permissions are letters of which one is
// enough, or, joined by "+", of which all are needed; "" is never permitted.
type rule struct {
	kind    byte   // resource type of an account SAS: s, c or o; 0 = any
	account string // permissions in an account SAS
	service string // permissions in a service SAS
	parent  bool   // needs a container SAS: a blob SAS does not reach it
}

// https://learn.microsoft.com/rest/api/storageservices/create-account-sas#account-sas-permissions-by-operation
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas#specify-permissions
var rules = [ops]rule{
	GetServiceProperties: {kind: 's', account: "r"},
	SetServiceProperties: {kind: 's', account: "w"},
	GetACL:               {kind: 'c'},
	SetACL:               {kind: 'c'},

	ListTables:    {kind: 'c', account: "l"},
	CreateTable:   {kind: 'c', account: "cw"},
	DeleteTable:   {kind: 'c', account: "d"},
	QueryEntities: {kind: 'o', account: "r", service: "r"},
	InsertEntity:  {kind: 'o', account: "a", service: "a"},
	UpdateEntity:  {kind: 'o', account: "u", service: "u"},
	UpsertEntity:  {kind: 'o', account: "a+u", service: "a+u"},
	DeleteEntity:  {kind: 'o', account: "d", service: "d"},

	ListQueues:       {kind: 's', account: "l"},
	CreateQueue:      {kind: 'c', account: "cw"},
	DeleteQueue:      {kind: 'c', account: "d"},
	GetQueueMetadata: {kind: 'c', account: "r", service: "r"},
	SetQueueMetadata: {kind: 'c', account: "w"},
	PutMessage:       {kind: 'o', account: "a", service: "a"},
	GetMessages:      {kind: 'o', account: "p", service: "p"},
	PeekMessages:     {kind: 'o', account: "r", service: "r"},
	UpdateMessage:    {kind: 'o', account: "u", service: "u"},
	DeleteMessage:    {kind: 'o', account: "p", service: "p"},
	ClearMessages:    {kind: 'o', account: "d", service: "p"},

	ListContainers:       {kind: 's', account: "l"},
	CreateContainer:      {kind: 'c', account: "cw"},
	DeleteContainer:      {kind: 'c', account: "d"},
	GetContainer:         {kind: 'c', account: "r"},
	SetContainerMetadata: {kind: 'c', account: "w"},
	LeaseContainer:       {kind: 'c', account: "w"},
	BreakContainerLease:  {kind: 'c', account: "wd"},
	ListBlobs:            {kind: 'c', account: "l", service: "l", parent: true},
	ReadBlob:             {kind: 'o', account: "r", service: "r"},
	CreateBlob:           {kind: 'o', account: "cw", service: "cw"},
	WriteBlob:            {kind: 'o', account: "w", service: "w"},
	AppendBlock:          {kind: 'o', account: "aw", service: "aw"},
	DeleteBlob:           {kind: 'o', account: "d", service: "d"},
	LeaseBlob:            {kind: 'o', account: "w", service: "w"},
	BreakBlobLease:       {kind: 'o', account: "wd", service: "wd"},
	TagBlob:              {kind: 'o', account: "t", service: "t"},
	GetAccountInfo:       {account: "rwdlacup", service: "racwdl"},
}

// permits reports whether the letters of have are enough for need.
func permits(need, have string) bool {
	if all := strings.Split(need, "+"); len(all) > 1 {
		for _, p := range all {
			if !strings.Contains(have, p) {
				return false
			}
		}
		return true
	}
	return strings.ContainsAny(have, need)
}
