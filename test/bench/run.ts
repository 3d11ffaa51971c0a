// `npm run bench`: every benchmark beside its floor, as a table of ratios. Words select: `npm run bench -- engine`.

import pc from 'picocolors';
import { agentRows } from './agent.ts';
import { domainRows } from './domain.ts';
import { compileRows, engineRows } from './engine.ts';
import { gatewayRows } from './gateway.ts';
import { gatewayDoorRows } from './gateway-door.ts';
import { grpcRows } from './grpc.ts';
import { inspectorRows } from './inspector.ts';
import { holds, type Row } from './measure.ts';
import { redisRows } from './redis.ts';
import { scaleRows } from './scale.ts';
import { tokenRows } from './token.ts';
import { ussdRows } from './ussd.ts';

const BENCHES: { readonly [name: string]: () => Promise<Row[]> } = {
  engine: engineRows,
  compile: compileRows,
  scale: scaleRows,
  redis: redisRows,
  domain: domainRows,
  ussd: ussdRows,
  token: tokenRows,
  agent: agentRows,
  grpc: grpcRows,
  gateway: gatewayRows,
  inspector: inspectorRows,
  door: gatewayDoorRows,
};

const words = process.argv.slice(2);
const chosen = Object.keys(BENCHES).filter((name) => !words.length || words.includes(name));
const rows: Row[] = [];
for (const name of chosen) {
  process.stderr.write(pc.dim(`measuring ${name} …\n`));
  rows.push(...(await BENCHES[name]!()));
}
console.log('| what | measured · floor | ratio | reach |');
console.log('|---|---|---|---|');
for (const row of rows) console.log(line(row));
const missed = rows.filter((row) => !holds(row));
console.log(
  `\n${rows.length - missed.length} of ${rows.length} reached (Node ${process.version}, CPU time of the process under test)`,
);

function line(row: Row): string {
  const reach = !row.target ? '' : 'atLeast' in row.target ? `≥ ${row.target.atLeast}` : `≤ ${row.target.atMost}`;
  return `| ${row.what} | ${row.measured} | ${row.ratio.toFixed(2)}${holds(row) ? '' : ' ✘'} | ${reach} |`;
}
