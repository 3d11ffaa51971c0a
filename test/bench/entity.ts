// What gateways are measured with: an entity with its document, as nodes of the ixo protocol answer.

export const PROTO = `syntax = "proto3"; package bench; import "google/protobuf/timestamp.proto"; import "google/api/annotations.proto";
  message Get { string id = 1; Page pagination = 2; } message Page { bytes key = 1; uint64 offset = 2; uint64 limit = 3; bool count_total = 4; }
  message Answer { Entity entity = 1; Document document = 2; }
  message Entity { string id = 1; string type = 2; google.protobuf.Timestamp start_date = 3; int32 status = 4; string relayer_node = 5;
    repeated string credentials = 6; bool entity_verified = 7; Metadata metadata = 8; repeated Account accounts = 9; }
  message Account { string name = 1; string address = 2; }
  message Metadata { string version_id = 1; google.protobuf.Timestamp created = 2; google.protobuf.Timestamp updated = 3; bool deactivated = 4; string entity_id = 5; }
  message Document { string id = 1; repeated string controller = 2; repeated Method verification_method = 3; repeated Service service = 4;
    repeated string authentication = 5; repeated string assertion_method = 6; repeated Resource linked_resource = 7; Metadata metadata = 8; }
  message Method { string id = 1; string type = 2; string controller = 3; oneof material { string blockchain_account_id = 4; string public_key_multibase = 5; } }
  message Service { string id = 1; string type = 2; string service_endpoint = 3; }
  message Resource { string type = 1; string id = 2; string description = 3; string media_type = 4; string service_endpoint = 5; string proof = 6; string encrypted = 7; string right = 8; }
  service Query { rpc Entity(Get) returns (Answer) { option (google.api.http).get = "/bench/entity/{id}"; } }`;

export const DID = 'did:ixo:entity:4f1cd6a80e3b5d7a9c2e1f0b8d6a4c3e';

/** A reply of `scale` times 5.8 kB of JSON. */
export function entity(scale = 1) {
  const time = '2024-05-06T07:08:09.123456789Z';
  const metadata = { version_id: 'f'.repeat(64), created: time, updated: time, entity_id: DID };
  const list = <T>(count: number, make: (at: number) => T): T[] =>
    Array.from({ length: Math.round(count * scale) }, (_, at) => make(at));
  return {
    entity: {
      ...{ id: DID, type: 'protocol/claim', start_date: time, status: 1, relayer_node: `${DID}#relayer`, metadata },
      accounts: list(3, (at) => ({ name: `account${at}`, address: `ixo1${'q'.repeat(38)}` })),
    },
    document: {
      ...{ id: DID, controller: [DID, `${DID}#admin`], metadata },
      verification_method: list(6, (at) => ({
        id: `${DID}#key-${at}`,
        type: 'CosmosAccountAddress',
        controller: DID,
        blockchain_account_id: `ixo1${'p'.repeat(38)}`,
      })),
      service: list(3, (at) => ({
        id: `${DID}#service-${at}`,
        type: 'LinkedDomains',
        service_endpoint: `https://service-${at}.example/cellnode`,
      })),
      authentication: list(4, (at) => `${DID}#key-${at}`),
      linked_resource: list(7, (at) => ({
        ...{
          type: 'Settings',
          id: `${DID}#resource-${at}`,
          description: 'Settings "of" the entity',
          media_type: 'application/ld+json',
        },
        ...{
          service_endpoint: `cellnode:/public/${'a'.repeat(40)}`,
          proof: `bafkrei${'b'.repeat(50)}`,
          encrypted: 'false',
        },
      })),
    },
  };
}
