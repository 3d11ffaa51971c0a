// What the query gateway is measured against: `hello` answers with so many bytes; `es` and `loader` are the shortest
// gateways on grpc-js that can be written with the libraries for Protobuf. They check nothing and know one route.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { create, createFileRegistry, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Client, credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';

const [, , mode, upstream, setFile] = process.argv;
const HEADERS = { 'content-type': 'application/json' };
const same = (bytes) => bytes;

const MODES = {
  hello: () => {
    const body = Buffer.alloc(Number(upstream), 'x');
    return (_id, answer) => answer(body);
  },
  es: () => {
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(setFile)));
    const client = new Client(upstream, credentials.createInsecure());
    const ask = registry.getMessage('bench.Get');
    const reply = registry.getMessage('bench.Answer');
    const options = { alwaysEmitImplicit: true, useProtoFieldName: true, registry };
    return (id, answer) => {
      const request = Buffer.from(toBinary(ask, create(ask, { id })));
      client.makeUnaryRequest('/bench.Query/Entity', same, same, request, (_error, bytes) =>
        answer(Buffer.from(JSON.stringify(toJson(reply, fromBinary(reply, bytes), options)))),
      );
    };
  },
  loader: () => {
    const options = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
    const { bench } = loadPackageDefinition(loadFileDescriptorSetFromBuffer(readFileSync(setFile), options));
    const client = new bench.Query(upstream, credentials.createInsecure());
    return (id, answer) => client.Entity({ id }, (_error, reply) => answer(Buffer.from(JSON.stringify(reply))));
  },
};

const answerTo = MODES[mode]();
const server = createServer((request, response) => {
  answerTo(decodeURIComponent(request.url.slice(request.url.lastIndexOf('/') + 1)), (body) => {
    response.writeHead(200, { ...HEADERS, 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
