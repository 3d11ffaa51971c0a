// A gRPC server straight on node:http2 that answers every call with the same message, as fast as it can.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http2';

// So many bytes, or what a file holds.
const what = process.argv[2];
const message = /^\d+$/.test(what) ? Buffer.alloc(Number(what), 'x') : readFileSync(what);
const reply = Buffer.concat([Buffer.alloc(5), message]);
reply.writeUInt32BE(message.length, 1);

const server = createServer({ settings: { maxConcurrentStreams: 1_000 } });
server.on('stream', (stream) => {
  stream.on('error', () => {});
  stream.resume();
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(reply);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
