// Every guide goes as it is written: its files are written, its commands run, and they print what it shows.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SETTINGS } from '../../server/config/settings.ts';
import { GUIDES, type GuideName, guideText } from '../../server/docs/guides.ts';
import { makeAnchor } from '../../server/docs/markdown.ts';
import { manifest, ROOT } from '../package/manifest.ts';
import { blocksOf } from './blocks.ts';
import { walk } from './walk.ts';

const test = suite('guides');
const texts = new Map<GuideName, string>();
for (const name of Object.keys(GUIDES) as GuideName[]) texts.set(name, await guideText(name));

for (const [name, text] of texts) test(`${name}: goes as it is written`, () => walk(blocksOf(text)));

test('what guides name exists: settings, npm scripts, guides, headings and files', () => {
  const missing: string[] = [];
  for (const [name, text] of texts) {
    const say = (what: string) => missing.push(`${name}: ${what}`);
    for (const [, setting] of text.matchAll(/`([A-Z]{2,}(?:_[A-Z]+)+)(?:=[^`]*)?`/g))
      if (!(setting! in SETTINGS) && !setting!.startsWith('ERR_')) say(`no setting ${setting}`);
    for (const [, script] of text.matchAll(/npm run ([a-z:]+)/g))
      if (!(script! in manifest.scripts)) say(`npm run ${script}`);
    for (const [, file] of text.matchAll(/`((?:lib|server|machines)\/[^`\s]*)`/g))
      if (!existsSync(join(ROOT, file!))) say(`no file ${file}`);
    for (const [, picture] of text.matchAll(/^```text picture\n([\s\S]*?)^```/gm))
      for (const [file] of picture!.matchAll(/\b(?:lib|server|machines)\/[\w./-]*\b\/?/g))
        if (!existsSync(join(ROOT, file))) say(`no file ${file}`);
    for (const [, guide, heading] of text.matchAll(/\]\(\/docs\/guides\/([a-z-]+)(?:#([^)]*))?\)/g)) {
      const other = texts.get(guide as GuideName);
      const headings = [...(other ?? '').matchAll(/^#+ (.*)$/gm)].map(([, words]) => makeAnchor(words!));
      if (!other || (heading && !headings.includes(heading))) say(`no ${guide}#${heading}`);
    }
  }
  assert.equal(missing, []);
});

test.run();
