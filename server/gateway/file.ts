// GATEWAY_FILE and the files that it names, read as a whole: what is wrong with any of them is told at once.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import { type ChannelOptions, type GatewaySettings, parseGatewayFile } from '../../lib/gateway/index.ts';

export interface GatewayFile {
  readonly settings: GatewaySettings;
  /** The file, for messages. */
  readonly source: string;
  readonly tls: NonNullable<ChannelOptions['tls']>;
  /** A FileDescriptorSet and its name for messages; undefined: the node is asked for it. */
  readonly descriptors: { readonly bytes: Buffer; readonly source: string } | undefined;
}

/** Reads it; paths inside start from its folder. Throws ERR_CONFIG with every problem, one a line. */
export function readGatewayFile(path: string): GatewayFile {
  const source = `GATEWAY_FILE ${path}`;
  const settings = parseGatewayFile(readText(path, source), source);
  const problems: string[] = [];
  const open = (name: string, what: string): Buffer | undefined => {
    try {
      return readFileSync(resolve(dirname(path), name));
    } catch (error) {
      problems.push(
        `${source}: ${what} ${name} cannot be read (${codeOf(error)}). Paths start from the file's folder.`,
      );
      return undefined;
    }
  };
  const ca = typeof settings.tls === 'object' ? open(settings.tls.ca, 'the certificate') : undefined;
  if (ca && !isCertificate(ca))
    problems.push(`${source}: the certificate in "tls" is not in PEM, from -----BEGIN CERTIFICATE----- on.`);
  const { descriptors } = settings;
  const bytes = descriptors.kind === 'file' ? open(descriptors.path, 'the FileDescriptorSet') : undefined;
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  const tls = ca ? { ca } : settings.tls === true;
  const set =
    descriptors.kind === 'file' && bytes ? { bytes, source: `The descriptor set ${descriptors.path}` } : undefined;
  return { settings, source, tls, descriptors: set };
}

function isCertificate(pem: Buffer): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function readText(path: string, source: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new TwinlineError('ERR_CONFIG', `${source} cannot be read (${codeOf(error)}). Set the path of a JSON file.`);
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
