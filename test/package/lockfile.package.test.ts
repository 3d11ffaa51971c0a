// package-lock.json fits package.json and every platform, names no private registry, needs no install script, and is the source of
// the list of materials.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { locked, manifest, ROOT } from './manifest.ts';

const packages = Object.entries(locked).filter(([folder]) => folder !== '');

const test = suite('lockfile');

test('it lists the dependencies of package.json: ranges for those who install the package, exact ones for its development', () => {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
  assert.equal(locked['']?.dependencies, dependencies);
  assert.equal(locked['']?.devDependencies, devDependencies);
  assert.equal(locked['']?.optionalDependencies, optionalDependencies);
  assert.equal(locked['']?.peerDependencies, peerDependencies);
  const loose = Object.entries(devDependencies).filter(
    ([, range]) => !/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(range),
  );
  assert.equal(loose, []);
  // With an exact version, users would wait for our release to get a security patch, and have a second copy of what they use themselves.
  const exact = Object.entries({ ...dependencies, ...optionalDependencies }).filter(([, range]) => !/^\^/.test(range));
  assert.equal(exact, []);
});

test('it lists the optional packages of every platform, without which npm ci refuses it', () => {
  const names = new Set(packages.map(([folder]) => folder.replace(/^.*node_modules\//, '')));
  const missing = packages.flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).flatMap((name) => (names.has(name) ? [] : [`${folder} → ${name}`])),
  );
  assert.equal(missing, []);
});

test('it names no registry: everybody installs from their own', () => {
  assert.equal(
    packages.filter(([, one]) => one.resolved !== undefined || one.link).map(([folder]) => folder),
    [],
  );
});

test('every install script is known and refused', () => {
  const scripted = packages
    .filter(([, one]) => one.hasInstallScript)
    .map(([folder]) => folder.replace(/^.*node_modules\//, ''));
  assert.equal(manifest.allowScripts, Object.fromEntries(scripted.map((name) => [name, false])));
});

/** Licences that allow what the package does with its dependencies: they are used as they are, and named. */
const LICENCES = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'EPL-2.0',
  'BlueOak-1.0.0',
  '0BSD',
]);

/** Of the W3C Software and Document License, which its package.json names by a file. */
const SAYS_NONE = '@digitalbazaar/credentials-context';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly unknown[];
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}

test('the list of materials (CycloneDX) has every package that users install, with its hash and an allowed licence', async () => {
  assert.ok(
    manifest.files.includes('sbom.cdx.json') && /npm run -s sbom > sbom\.cdx\.json/.test(manifest.scripts.prepack!),
  );
  const [command, ...args] = manifest.scripts.sbom!.split(' ');
  const { stdout } = await promisify(execFile)(command!, args, { cwd: ROOT, maxBuffer: 8_388_608 });
  const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: readonly Component[] };
  assert.is(bomFormat, 'CycloneDX');
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const installed = packages.filter(([folder, { dev }]) => !dev && existsSync(join(ROOT, folder)));
  const names = installed.map(([folder, { version }]) => `${folder.replace(/^.*node_modules\//, '')}@${version}`);
  assert.equal(
    names.filter((name) => !listed.has(name)),
    [],
  );
  const isAllowed = ({ licenses = [] }: Component) =>
    licenses.length > 0 &&
    licenses.every(({ license, expression = license?.id ?? '' }) =>
      expression.split(/ AND /).every((part) => part.split(/ OR /).some((id) => LICENCES.has(id.replace(/[()]/g, '')))),
    );
  for (const one of components.filter(({ name }) => name !== SAYS_NONE)) {
    assert.ok(one.hashes?.length, `${one.name} has no hash`);
    assert.ok(isAllowed(one), `${one.name}: ${JSON.stringify(one.licenses)}`);
  }
});

test.run();
