// The files that the domain service is set up with: API keys and voting rules. What is wrong with both is told at once.

import { readFileSync } from 'node:fs';
import { DEFAULT_GOVERNANCE, type Governance, parseGovernance } from '../../lib/domain/voting/governance.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { type ApiKeys, type ApiKeysOptions, apiKeys } from './api-keys.ts';

export interface DomainFiles {
  readonly keys: ApiKeys;
  readonly governance: Governance;
}

/** Reads both; throws ERR_CONFIG with every problem of either, one a line. */
export function readDomainFiles(governanceFile: string | undefined, options: ApiKeysOptions): DomainFiles {
  const problems: string[] = [];
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TwinlineError) || error.code !== 'ERR_CONFIG') throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const keys = attempt(() => apiKeys(options));
  const governance = attempt(() => readGovernance(governanceFile));
  if (keys && governance) return { keys, governance };
  throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
}

function readGovernance(file: string | undefined): Governance {
  if (file === undefined) return DEFAULT_GOVERNANCE;
  return parseGovernance(readText(file), `GOVERNANCE_FILE ${file}`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new TwinlineError(
      'ERR_CONFIG',
      `GOVERNANCE_FILE ${file} cannot be read (${code}). Set the path of a JSON file.`,
    );
  }
}
