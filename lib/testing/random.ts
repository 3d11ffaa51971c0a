// What the checks with random calls share: the package that makes them, and how a run that failed is made again.

import { optionalPackage } from '../errors.ts';

/** Which random calls are made. */
export interface RandomOptions {
  /**
   * What a check with random calls prints when it fails, beside its `path`. With both, that check makes the calls again that failed;
   * the path is of that one check, so run no other with it.
   * @default another one with every run
   */
  readonly seed?: number;
  /** As the failure printed it. @default all calls of the seed */
  readonly path?: string;
}

/** What `load` imports, which needs fast-check. Throws ERR_CONFIG when that is not installed. */
export function withFastCheck<T>(load: () => Promise<T>): Promise<T> {
  return optionalPackage(load, { purpose: 'make random calls', packages: '--save-dev fast-check@4' });
}

/** Parameters for fast-check, without those that are not given. */
export function replay({ seed, path }: RandomOptions): RandomOptions {
  return { ...(seed !== undefined && { seed }), ...(path !== undefined && { path }) };
}
