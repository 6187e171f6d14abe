from datetime import datetime, timezone
from uuid import UUID

from azure.core import MatchConditions
from azure.data.tables import EdmType, EntityProperty, TableServiceClient, UpdateMode
from run import ACCOUNT, UNIQUE, refused, step

service = TableServiceClient.from_connection_string(ACCOUNT)
table = service.get_table_client("T" + UNIQUE)
KEY = {"PartitionKey": "Sales", "RowKey": "it's 1"}
EVERYTHING = dict(
    KEY, text="Grüße 😀", small=7, fraction=1.5, whole=3.0, flag=True, big=EntityProperty(9007199254740993, EdmType.INT64),
    when=datetime(2020, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc), id=UUID("c9da6455-213d-42c9-9a79-3e9149a57833"), data=b"\x01\x02\x03",
)


@step("create a table")
def _():
    table.create_table()
    refused(409, "TableAlreadyExists", table.create_table)
    assert [t.name for t in service.query_tables("TableName eq '%s'" % table.table_name)] == [table.table_name]


@step("an entity of every type")
def _():
    table.create_entity(EVERYTHING)
    got = table.get_entity(**{"partition_key": "Sales", "row_key": "it's 1"})
    for name, value in EVERYTHING.items():
        value = value[0] if name == "big" else value
        stored = got[name][0] if name == "big" else got[name]
        assert stored == value and isinstance(stored, type(value)), (name, stored)
    refused(409, "EntityAlreadyExists", table.create_entity, EVERYTHING)


@step("merge, replace and a version that is gone")
def _():
    old = table.get_entity("Sales", "it's 1").metadata["etag"]
    table.update_entity(dict(KEY, more="x"), mode=UpdateMode.MERGE)
    assert table.get_entity("Sales", "it's 1")["small"] == 7
    table.update_entity(dict(KEY, more="y"), mode=UpdateMode.REPLACE)
    assert "small" not in table.get_entity("Sales", "it's 1")
    refused(412, "UpdateConditionNotSatisfied", table.update_entity, KEY, etag=old, match_condition=MatchConditions.IfNotModified)


@step("delete")
def _():
    table.delete_entity("Sales", "it's 1")
    refused(404, "ResourceNotFound", table.get_entity, "Sales", "it's 1")


@step("a transaction")
def _():
    table.submit_transaction([("create", {"PartitionKey": "T", "RowKey": "%03d" % i, "n": i}) for i in range(100)])
    assert len(list(table.query_entities("PartitionKey eq 'T'"))) == 100


@step("a transaction that fails as a whole")
def _():
    from azure.data.tables import TableTransactionError
    try:
        table.submit_transaction([("create", {"PartitionKey": "T", "RowKey": "new"}), ("create", {"PartitionKey": "T", "RowKey": "000"})])
        raise AssertionError("was not refused")
    except TableTransactionError as e:
        assert (e.status_code, e.error_code, e.index) == (409, "EntityAlreadyExists", 1), (e.status_code, e.error_code, e.index)
    refused(404, "ResourceNotFound", table.get_entity, "T", "new")


@step("query by pages, with parameters and a projection")
def _():
    pages = [list(page) for page in table.query_entities("n ge @n", parameters={"n": 50}, select=["RowKey"], results_per_page=20).by_page()]
    assert [len(p) for p in pages] == [20, 20, 10], [len(p) for p in pages]
    assert pages[0][0] == {"RowKey": "050"}, pages[0][0]


@step("properties of the service")
def _():
    assert service.get_service_properties()["analytics_logging"].version == "1.0"


@step("delete the table")
def _():
    table.delete_table()
    assert list(service.query_tables("TableName eq '%s'" % table.table_name)) == []
