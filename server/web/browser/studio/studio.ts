// The page of the studio: the text and tests of one flow, and the parts that follow their changes.

import type { EditedFlow } from '../../../menus/files.ts';
import type { TestedDraft } from '../../studio/draft-work.ts';
import { findElement } from '../element.ts';
import { startHeader } from '../site.ts';
import { beginning } from './begin.ts';
import { checking, describeState } from './checking.ts';
import { dialling } from './dialling.ts';
import { type EditedDocument, openEditor } from './editor.ts';
import type { SentText } from './followed.ts';
import { buildPart } from './form/building.ts';
import { editSteps } from './form/steps.ts';
import { get, post, type Refused } from './requests.ts';
import { countFailing, testing } from './testing.ts';
import { storeDrafts } from './unsaved.ts';
import { type Conflict, conflictPart, keepLineEnds, versionsPart, watchDisk } from './versions.ts';
import { wordsPart } from './words.ts';

startHeader();

const TEST_MS = 700;

const page = findElement('studio');
const flows = findElement<HTMLSelectElement>('flows');
const state = findElement('state');

let flow = '';
/** The files as they were read, and where the next save writes the flow. */
type OpenedFlow = EditedFlow & { readonly file: string };

let base: EditedFlow = { flow: { text: '', hash: '' }, tests: { text: '', hash: '' } };
let failing = 0;
let isSaving = false;
/** The tests of the last run. */
let testsSent: SentText | undefined;
/** The flow that was asked for last. */
let wanted = '';
let testTimer: ReturnType<typeof setTimeout> | undefined;

const tell = (words: string) => {
  const notice = findElement('notice');
  notice.textContent = words;
  notice.hidden = words === '';
};

const editor = openEditor({
  host: findElement('editor'),
  flow: () => flow,
  onChange: (document) => {
    stored.keepSoon();
    showState();
    steps.show();
    if (document === 'tests') return testSoon();
    // Tests run after the check.
    clearTimeout(testTimer);
    checks.soon();
  },
  onMove: (offset) => builder.follow(checks.findScreen(offset)),
  onSave: () => void save(),
  onMissed: () => tell('The text there has changed. Wait for the next check.'),
});
const steps = editSteps({ editor, flow: () => flow, onSave: () => void save() });
const draft = () => ({ flow, text: editor.text('flow') });
const builder = buildPart({
  ...{ editor, flow: () => flow },
  findOffset: (screen) => checks.findOffset(screen),
  onText: (pointer) => revealPointer('flow', pointer),
  tell: (words) => tell(words),
});
const checks = checking({
  editor,
  flow: () => flow,
  onPick: (offset) => reveal('flow', offset),
  onChecked: () => {
    showState();
    builder.check(checks.problems);
    if (checks.errors) return builder.outdate();
    testSoon();
    refreshPart();
  },
  tell: (words) => tell(words),
});
const tests = testing({
  draft: () => {
    testsSent = editor.send('tests');
    return { ...draft(), tests: testsSent.text };
  },
  onUpdate: (text) => editor.change('tests', text),
  onPick: (pointer) => revealPointer('tests', pointer),
  onTested: (tested) => {
    failing = countFailing(tested);
    if (testsSent?.isCurrent()) editor.problems('tests', tested.problems, testsSent);
    showState();
  },
});
const words = wordsPart({
  draft,
  write: (pointer, value) => {
    const range = editor.find('flow', pointer);
    if (range) editor.replace('flow', { ...range, insert: value });
  },
  onPick: (pointer) => revealPointer('flow', pointer),
});
const versions = versionsPart({
  draft,
  onRestore: (text) => {
    editor.change('flow', text);
    tell('The version is in the editor. Save to serve it.');
    showDocument('flow');
  },
});
dialling({
  draft,
  onPick: (path) => {
    openPart('drawing');
    builder.open(path.split('.')[0]!);
  },
  tests: () => editor.text('tests'),
  onRecorded: (text) => {
    editor.change('tests', text);
    tell('The dialogue was added to the tests. Save to write the file.');
    void tests.run();
  },
  tell,
});
const conflict = conflictPart({
  onTakeDisk: () => {
    stored.forget(flow);
    void load(flow);
  },
  onKeepMine: ({ file, present }) => {
    base = { ...base, [file]: present };
    showState();
  },
  tell,
});
const showConflict = (next: Conflict) => conflict.show(next, editor.text(next.file));
const stored = storeDrafts({
  flow: () => flow,
  unsaved: () => (isDirty() ? { flow: editor.text('flow'), tests: editor.text('tests') } : undefined),
});
const flowList = beginning({
  open: () => ({ ...draft(), tests: editor.text('tests') }),
  onBegun: async (name, words) => {
    await flowList.refresh(name);
    await load(name);
    tell(words);
  },
});

const fileText = (document: EditedDocument) => keepLineEnds(editor.text(document), base[document]);
const isDirty = () => !editor.isSame('flow', base.flow.text) || !editor.isSame('tests', base.tests.text);

function showState(): void {
  const { errors, warnings } = checks;
  const saved = isSaving ? 'Saving …' : isDirty() ? 'Not saved' : 'Saved';
  state.textContent = describeState(saved, { errors, warnings, failing });
  state.classList.toggle('wrong', errors + failing > 0);
  findElement<HTMLButtonElement>('save').disabled = isSaving || !isDirty();
}

function testSoon(): void {
  clearTimeout(testTimer);
  testTimer = setTimeout(() => void tests.run(), TEST_MS);
}

/** Refreshes the open part. */
function refreshPart(): void {
  if (!flow) return;
  const { part } = page.dataset;
  if (part === 'drawing' || part === 'text') void builder.draw(draft());
  if (part === 'drawing') void builder.refresh();
  if (part === 'words') void words.refresh();
  if (part === 'history') void versions.refresh();
}

function openPart(part: string): void {
  page.dataset.part = part;
  for (const tab of document.querySelectorAll<HTMLElement>('.tabs [data-part]'))
    tab.setAttribute('aria-pressed', String(tab.dataset.part === part));
  refreshPart();
}

function showDocument(document: EditedDocument): void {
  editor.show(document);
  findElement('show-flow').setAttribute('aria-pressed', String(document === 'flow'));
  findElement('show-tests').setAttribute('aria-pressed', String(document === 'tests'));
}

function reveal(document: EditedDocument, offset: number): void {
  if (matchMedia('(max-width: 60rem)').matches) openPart('text');
  showDocument(document);
  editor.reveal(document, offset);
}

function revealPointer(document: EditedDocument, pointer: string): void {
  const range = editor.find(document, pointer);
  if (range) reveal(document, range.from);
}

async function save(): Promise<void> {
  if (isSaving || !isDirty()) return;
  isSaving = true;
  showState();
  tell('');
  const testsText = fileText('tests');
  const areTestsNew = testsText !== base.tests.text;
  const body = {
    flow,
    text: fileText('flow'),
    base: base.flow.hash,
    ...(areTestsNew && { tests: testsText, testsBase: base.tests.hash }),
  };
  try {
    const saved = await post<OpenedFlow>('/save', body);
    base = saved;
    stored.forget(flow);
    if (isDirty()) stored.keepSoon();
    tell(`Saved in ${saved.file} and served.`);
    void flowList.refresh(flow);
    refreshPart();
  } catch (error) {
    showRefusal(error as Refused);
  }
  isSaving = false;
  showState();
}

function showRefusal({ status, body, message }: Refused): void {
  if (status === 409) return void showConflict(body as Conflict);
  if (status !== 422) return void tell(`Not saved: ${message}`);
  const refused = body as TestedDraft;
  if (refused.reports.length || refused.problems.length) tests.show({ ...refused, problems: [] });
  failing = refused.reports.filter(({ failures }) => failures.length).length;
  tell(checks.errors ? 'Not saved: the flow has errors.' : 'Not saved: its tests fail.');
  if (!checks.errors) openPart('tests');
}

async function load(name: string): Promise<void> {
  wanted = name;
  flows.value = name;
  conflict.hide();
  const opened = await get<OpenedFlow>(`/flows/${encodeURIComponent(name)}`).catch((error: Error) => error);
  if (wanted !== name) return;
  if (opened instanceof Error) {
    flows.value = flow;
    return tell(opened.message);
  }
  stored.keepNow();
  // The name changes with the text: what is asked meanwhile is about the flow of before.
  flow = name;
  base = opened;
  findElement('file').textContent = opened.file;
  const unsaved = stored.find(name);
  editor.load('flow', unsaved?.flow ?? base.flow.text);
  editor.load('tests', unsaved?.tests ?? base.tests.text);
  if (unsaved) tell('Unsaved changes were restored.');
  failing = 0;
  builder.restart();
  steps.show();
  history.replaceState(null, '', `#${name}`);
  showDocument('flow');
  showState();
  await checks.now();
}

findElement('save').addEventListener('click', () => void save());
findElement('show-flow').addEventListener('click', () => showDocument('flow'));
findElement('show-tests').addEventListener('click', () => showDocument('tests'));
flows.addEventListener('change', () => void load(flows.value));
for (const tab of document.querySelectorAll<HTMLElement>('.tabs [data-part]'))
  tab.addEventListener('click', () => openPart(tab.dataset.part!));
watchDisk({
  flow: () => flow,
  base: () => base,
  isDirty,
  onConflict: showConflict,
  onNew: (present) => {
    base = present;
    editor.load('flow', base.flow.text);
    editor.load('tests', base.tests.text);
    tell('The file has changed on disk and was reloaded.');
    checks.soon();
  },
});
addEventListener('hashchange', () => {
  const name = decodeURIComponent(location.hash.slice(1));
  if (name !== '' && name !== flow) void load(name);
});
addEventListener('beforeunload', (event) => {
  if (isDirty()) event.preventDefault();
});
openPart('drawing');
const listed = await flowList.refresh('');
if (listed.flows.length) await load(decodeURIComponent(location.hash.slice(1)) || page.dataset.flow!);
else {
  state.textContent = 'No menus yet';
  await flowList.begin(listed.dialled);
}
