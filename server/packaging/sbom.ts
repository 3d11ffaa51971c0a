// `npm run sbom`: the list of materials of the package (CycloneDX), to standard output. `npm sbom --omit dev` (npm 11.19) leaves out
// what development needs as well, such as xstate: so the whole list is filtered by the lockfile.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LICENCES, listBundled } from './licences.ts';

interface Sbom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
}

const options = { encoding: 'utf8', maxBuffer: 16_777_216 } as const;
const sbom = JSON.parse(execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], options)) as Sbom;
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string };

const kept = new Set([
  ...Object.entries(lock.packages)
    .filter(([folder, { dev }]) => folder !== '' && !dev)
    .map(([folder, { version }]) => `${folder.replace(/^.*node_modules\//, '')}@${version}`),
  ...listBundled(readFileSync(join('dist', LICENCES), 'utf8')),
]);
const { component } = sbom.metadata;
const refs = new Set([...kept, component['bom-ref']]);
const list = {
  ...sbom,
  metadata: { ...sbom.metadata, component: { ...component, name } },
  components: sbom.components.filter((one) => kept.has(one['bom-ref'])),
  dependencies: sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
};
process.stdout.write(`${JSON.stringify(list, null, 2)}\n`);
