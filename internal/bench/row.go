package bench

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// Employee is the row as a user of azpatterns declares it. It has 14 properties,
// including the keys; the service sends it, with Timestamp, as 669 bytes.
type Employee struct {
	PartitionKey   string
	RowKey         string
	FirstName      string
	LastName       string
	EmailAddress   string
	Department     string
	Title          string
	Office         string
	Age            int32
	Active         bool
	Salary         float64
	EmployeeNumber int64
	HiredAt        time.Time
	Badge          [16]byte
}

// HandEmployee is the same row as a user of aztables declares it. Type annotations are
// separate fields, because aztables does not write them for a struct.
type HandEmployee struct {
	aztables.Entity
	FirstName          string
	LastName           string
	EmailAddress       string
	Department         string
	Title              string
	Office             string
	Age                int32
	Active             bool
	Salary             float64
	EmployeeNumber     aztables.EDMInt64
	EmployeeNumberType string `json:"EmployeeNumber@odata.type,omitempty"`
	HiredAt            aztables.EDMDateTime
	HiredAtType        string `json:"HiredAt@odata.type,omitempty"`
	Badge              aztables.EDMGUID
	BadgeType          string `json:"Badge@odata.type,omitempty"`
}

var hired = time.Date(2014, 7, 31, 18, 15, 4, 123456700, time.UTC)

func employee(i int) Employee {
	return Employee{
		PartitionKey: "Sales", RowKey: fmt.Sprintf("%08d", i),
		FirstName: "Jun", LastName: "Cao", EmailAddress: fmt.Sprintf("junc%06d@contoso.com", i),
		Department: "Sales", Title: "Senior account manager, north-western region",
		Office: "Building 25, floor 13, desk 0417, One Microsoft Way, Redmond, Washington 98052-6399, U.S.A.",
		Age:    47, Active: true, Salary: 81234.5, EmployeeNumber: 9_000_000_000 + int64(i),
		HiredAt: hired, Badge: [16]byte{0xc9, 0xda, 0x64, 0x55, 0x21, 0x3d, 0x42, 0xc9, 0x9a, 0x79, 0x3e, 0x91, 0x49, 0xa5, 0x78, byte(i)},
	}
}

func handEmployee(i int) HandEmployee {
	e := employee(i)
	return HandEmployee{
		Entity:    aztables.Entity{PartitionKey: e.PartitionKey, RowKey: e.RowKey},
		FirstName: e.FirstName, LastName: e.LastName, EmailAddress: e.EmailAddress,
		Department: e.Department, Title: e.Title, Office: e.Office, Age: e.Age, Active: e.Active, Salary: e.Salary,
		EmployeeNumber: aztables.EDMInt64(e.EmployeeNumber), EmployeeNumberType: "Edm.Int64",
		HiredAt: aztables.EDMDateTime(e.HiredAt), HiredAtType: "Edm.DateTime",
		Badge: guidText(e), BadgeType: "Edm.Guid",
	}
}

func guidText(e Employee) aztables.EDMGUID {
	b := e.Badge[:]
	return aztables.EDMGUID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

func entityEmployee(i int) aztables.EDMEntity {
	e := employee(i)
	return aztables.EDMEntity{
		Entity: aztables.Entity{PartitionKey: e.PartitionKey, RowKey: e.RowKey},
		Properties: map[string]any{
			"FirstName": e.FirstName, "LastName": e.LastName, "EmailAddress": e.EmailAddress,
			"Department": e.Department, "Title": e.Title, "Office": e.Office, "Age": e.Age, "Active": e.Active, "Salary": e.Salary,
			"EmployeeNumber": aztables.EDMInt64(e.EmployeeNumber), "HiredAt": aztables.EDMDateTime(e.HiredAt),
			"Badge": guidText(e),
		},
	}
}

const tableMetadata = `"odata.metadata":"https://account.table.core.windows.net/$metadata#Employees`

// appendRow appends row i as the service sends it with minimal metadata.
func appendRow(dst []byte, i int, lead string) []byte {
	e := employee(i)
	return fmt.Appendf(dst, `{%s"odata.etag":"W/\"datetime'2026-01-02T03%%3A04%%3A05.%07dZ'\"","PartitionKey":"%s","RowKey":"%s",`+
		`"Timestamp":"2026-01-02T03:04:05.%07dZ","FirstName":"%s","LastName":"%s","EmailAddress":"%s","Department":"%s","Title":"%s","Office":"%s",`+
		`"Age":%d,"Active":%t,"Salary":%v,"EmployeeNumber@odata.type":"Edm.Int64","EmployeeNumber":"%d",`+
		`"HiredAt@odata.type":"Edm.DateTime","HiredAt":"%s","Badge@odata.type":"Edm.Guid","Badge":"%s"}`,
		lead, i, e.PartitionKey, e.RowKey, i, e.FirstName, e.LastName, e.EmailAddress, e.Department, e.Title, e.Office,
		e.Age, e.Active, e.Salary, e.EmployeeNumber, e.HiredAt.Format("2006-01-02T15:04:05.0000000Z"), guidText(e))
}

// Page returns a page of rows as the service sends it with minimal metadata.
func Page(rows int) []byte {
	page := []byte(`{` + tableMetadata + `","value":[`)
	for i := range rows {
		if i > 0 {
			page = append(page, ',')
		}
		page = appendRow(page, i, "")
	}
	return append(page, "]}"...)
}

func cannedRow() []byte { return appendRow(nil, 1, tableMetadata+`/@Element",`) }

func cannedBatch(operations int) []byte {
	b := []byte("--batchresponse_4c637ba4\r\nContent-Type: multipart/mixed; boundary=changesetresponse_955358ab\r\n\r\n")
	for i := range operations {
		b = fmt.Appendf(b, "--changesetresponse_955358ab\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"+
			"HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nPreference-Applied: return-no-content\r\n"+
			"DataServiceVersion: 3.0;\r\nLocation: https://account.table.core.windows.net/Employees(PartitionKey='Sales',RowKey='%08d')\r\n"+
			"DataServiceId: https://account.table.core.windows.net/Employees(PartitionKey='Sales',RowKey='%08d')\r\n"+
			"ETag: W/\"datetime'2026-01-02T03%%3A04%%3A05.%07dZ'\"\r\n\r\n\r\n", i, i, i)
	}
	return append(b, "--changesetresponse_955358ab--\r\n--batchresponse_4c637ba4--\r\n"...)
}
