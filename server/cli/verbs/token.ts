// `twinline token`: creates a token for the agent service with your own key, or prints the content of one.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { didOfKey, type OracleKey, parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { TOKEN_REASONS } from '../../../lib/delegation/reason.ts';
import { inspectToken, mintDelegation, mintInvocation } from '../../../lib/delegation/tokens.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { IN_MEMORY, makeFolder, makeOracleKey } from '../../config/data-dir.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  key: { type: 'string' },
  audience: { type: 'string' },
  expires: { type: 'string', default: '600' },
  delegation: { type: 'boolean' },
  inspect: { type: 'string' },
} as const;
const KEY_FILE = 'user.key';
const CAPABILITY = { can: '*', with: 'ixo:oracle' };

export const tokenVerb: Verb = {
  usage: '[options]',
  options: {
    '--key <file>': `your key, made when it is not there; default ${KEY_FILE} in DATA_DIR`,
    '--audience <did>': 'the agent; default the one of this configuration',
    '--expires <s>': 'seconds that it counts; default 600',
    '--delegation': 'a delegation instead of an invocation',
    '--inspect <token>': 'the issuer and the audience of a token, and what it grants; nothing is checked',
  },
  run: async (args, env) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.inspect !== undefined) return printToken(values.inspect);
    const expiresIn = Number(values.expires);
    if (!Number.isSafeInteger(expiresIn) || expiresIn < 1)
      throw new UsageError('--expires takes a whole number of seconds.');
    const { config, problems } = readConfig(env, { makeKeys: true });
    if (!config) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
    const key = userKey(values.key ?? keyPath(config));
    const audience = values.audience ?? config.agent.did ?? didOfKey(config.oracleKey);
    const common = { key, audience, expiresIn };
    const token = values.delegation
      ? mintDelegation({ ...common, capabilities: [CAPABILITY] })
      : mintInvocation({ ...common, capability: CAPABILITY });
    console.log(await token);
    return 0;
  },
};

function printToken(token: string): number {
  const reply = inspectToken(token);
  if (reply.ok) console.log(JSON.stringify(reply.chain, null, 2));
  else console.error(`This is no token: ${TOKEN_REASONS[reply.reason]}.`);
  return reply.ok ? 0 : 1;
}

function keyPath({ dataDir }: Config): string {
  if (dataDir === IN_MEMORY) throw new UsageError('DATA_DIR=:memory: keeps no key. Name a file with --key.');
  makeFolder(dataDir);
  return join(dataDir, KEY_FILE);
}

function userKey(path: string): OracleKey {
  if (!existsSync(path)) writeFileSync(path, `${makeOracleKey()}\n`, { mode: 0o600, flag: 'wx' });
  return parseOracleKey(readFileSync(path, 'utf8').trim());
}
