// A second reading of the format: screens, keys, ways back and called flows, as the reference describes them, without machines. Texts
// are short (one page), and conditions and expressions are rows of a table instead of a language.

import { ENGLISH, findDefaultWords } from '../../lib/flow/format/default-words.ts';
import {
  DEFAULT_KEYS,
  type Flow,
  type Label,
  type NavigationKey,
  type Option,
  type Screen,
  type Text,
  type Values,
  type Way,
} from '../../lib/flow/format/flow.ts';
import type { Json } from '../../lib/json/json.ts';

type Vars = { [name: string]: Json };

/** Every condition and expression of the flows under test, and what it gives. */
export const CODE: { readonly [source: string]: (vars: Vars) => Json } = {
  flag: ({ flag }) => flag!,
  'not flag': ({ flag }) => flag !== true,
  'count > 1': ({ count }) => (count as number) > 1,
  'count + 1': ({ count }) => (count as number) + 1,
  said: ({ said }) => said!,
  "said == '7'": ({ said }) => said === '7',
  'got.n == 1': ({ got }) => (got as Vars | null)?.n === 1,
  "error.code == 'ERR_INPUT'": ({ error }) => (error as Vars).code === 'ERR_INPUT',
};

/** What services answer; `undefined` fails with ERR_INPUT. */
export const ANSWERS: { readonly [service: string]: Json | undefined } = { yes: 'yes', seven: '7', no: undefined };

interface Frame {
  readonly flow: Flow;
  vars: Vars;
  /** Screens to go back to, with all variables as they were there. */
  stack: { readonly id: string; readonly vars: Vars }[];
  /** Whether a service was asked in this call of the flow. */
  asked: boolean;
  /** The screen that is shown, or the one that called the next frame. */
  at: string;
}

/** Thrown where a caller would never see a screen. */
export class Endless extends Error {}

export class Model {
  readonly tracked: string[] = [];
  readonly #main: Flow;
  readonly #flows: ReadonlyMap<string, Flow>;
  #frames: Frame[] = [];
  #refusals = 0;
  #last = '';
  /** The text that closed the session. */
  ended: string | undefined;

  constructor(main: Flow, flows: ReadonlyMap<string, Flow>) {
    this.#main = main;
    this.#flows = flows;
  }

  /** The path of the screen: `shop.ask` in the called flow `shop`. */
  get path(): string {
    const { flow, at } = this.#top;
    return flow === this.#main ? at : `${flow.flow}.${at}`;
  }

  get stacks(): readonly (readonly string[])[] {
    return this.#frames.map(({ stack }) => stack.map(({ id }) => id));
  }

  get vars(): Vars {
    return this.#top.vars;
  }

  dial(): string {
    this.#steps = 0;
    this.#frames = [this.#open(this.#main, {})];
    return this.#enter(this.#main.start);
  }

  say(typed: string): string {
    this.#steps = 0;
    const input = typed.replace(/\p{Cc}/gu, ' ').trim();
    const screen = this.#screen;
    const { exit, back, home } = this.#moves();
    if (input === '') return this.#last;
    if (input === exit) return this.#exit();
    if (input === back) return this.#back();
    if (input === home) {
      this.#frames = [this.#frames[0]!];
      this.#top.stack = [];
      return this.#enter(this.#main.start);
    }
    if (screen.type === 'menu') {
      return this.#pick(this.#options(screen).options, input);
    }
    if (screen.type === 'list') {
      const { numbers, options } = this.#options(screen);
      const value = (this.vars.items as Json[])[numbers.indexOf(input)];
      if (value === undefined) return this.#pick(options, input);
      return this.#go(screen.pick!, { pushes: true, save: screen.pick!.save, value });
    }
    const { accept, save, to, set, attempts, else: otherwise } = screen as Screen & { type: 'input' };
    const isRight = accept === undefined || (accept.digits === 1 ? /^\d$/.test(input) : input === this.vars.said);
    if (isRight) return this.#go({ to, ...(set && { set }) }, { pushes: true, save, value: input });
    if (attempts !== undefined && this.#refusals + 1 >= attempts) return this.#go({ to: otherwise! }, {});
    return this.#refuse();
  }

  get #top(): Frame {
    return this.#frames.at(-1)!;
  }

  get #screen(): Screen {
    return this.#top.flow.screens[this.#top.at]!;
  }

  get #depth(): number {
    return this.#frames.reduce((sum, { stack }) => sum + stack.length, 0);
  }

  get #canGoBack(): boolean {
    const { back } = this.#screen;
    return back !== false && (typeof back === 'string' || this.#depth > 0);
  }

  /** The keys that count on this screen; of two that are the same, the first. */
  #moves(): { readonly [name in NavigationKey]?: string } {
    const screen = this.#screen as Screen & { type: 'menu' | 'input' | 'list' };
    const keys = { ...DEFAULT_KEYS, ...this.#top.flow.keys, ...screen.keys };
    const isAway = this.path !== this.#main.start || this.#depth > 0;
    const home = this.#depth > 1 || (screen.type !== 'input' && isAway);
    const live = { exit: true, back: this.#canGoBack, home };
    const moves = new Map<string, string>();
    for (const [name, isLive] of Object.entries(live)) {
      const key = keys[name as NavigationKey];
      if (isLive && key !== false && ![...moves.values()].includes(key)) moves.set(name, key);
    }
    return Object.fromEntries(moves);
  }

  /** The first numbers that are no key yet. */
  #numbers(keys: readonly string[], count: number): string[] {
    const used = [...Object.values(this.#moves()), ...keys];
    return Array.from({ length: count + 99 }, (_, at) => String(at + 1))
      .filter((number) => !used.includes(number))
      .slice(0, count);
  }

  #open(flow: Flow, values: Vars): Frame {
    const vars = Object.entries(flow.vars!).map(([name, variable]) => [name, variable.default ?? null]);
    return { flow, vars: { ...Object.fromEntries(vars), ...values }, stack: [], at: '', asked: false };
  }

  #evaluate(values: Values = {}, scope: Vars = this.vars): Vars {
    const give = (value: Json) =>
      typeof value === 'string' && value.startsWith('=') ? CODE[value.slice(1)]!(scope) : value;
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, give(value)]));
  }

  #fit(values: Vars): Vars {
    const cut = (name: string, value: Json) =>
      typeof value === 'string' ? value.slice(0, this.#top.flow.vars![name]!.max) : value;
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, cut(name, value)]));
  }

  /** Leaves a screen by a way. */
  #go(
    { to, set, track }: Way,
    how: {
      readonly pushes?: true;
      readonly save?: string | undefined;
      readonly value?: Json;
      readonly also?: Vars;
      /** What a service brings stays when the caller goes back. */
      readonly stays?: boolean;
    },
  ): string {
    const top = this.#top;
    const before = { ...top.vars };
    const saved = how.save === undefined ? {} : this.#fit({ [how.save]: how.value! });
    const changes = { ...saved, ...this.#fit(this.#evaluate(set, { ...before, ...saved, ...how.also })) };
    Object.assign(top.vars, changes);
    if (how.stays) for (const { vars } of top.stack) Object.assign(vars, changes);
    if (how.stays) top.asked = true;
    if (track !== undefined) this.tracked.push(track);
    if (how.pushes && to !== top.at) top.stack = [...top.stack, { id: top.at, vars: before }].slice(-20);
    if (top.flow.screens[to]!.back === false) for (const frame of this.#frames) frame.stack = [];
    return this.#enter(to, true);
  }

  #choose(ways: string | readonly Way[], scope: Vars): Way {
    if (typeof ways === 'string') return { to: ways };
    return ways.find(({ when }) => when === undefined || CODE[when]!(scope) === true)!;
  }

  #steps = 0;

  #enter(id: string, isNext = false): string {
    if (++this.#steps > 12) throw new Endless();
    const top = this.#top;
    const isAgain = isNext && id === top.at && ['menu', 'input', 'list'].includes(this.#screen.type);
    top.at = id;
    this.#refusals = 0;
    const screen = this.#screen;
    // A screen that leads to itself is not entered anew.
    if (screen.track !== undefined && !isAgain) this.tracked.push(screen.track);
    switch (screen.type) {
      case 'branch':
        return this.#go(this.#choose(screen.branch, top.vars), {});
      case 'call': {
        const value = ANSWERS[screen.service];
        const error = { code: 'ERR_INPUT', message: 'no' };
        if (value === undefined)
          return this.#go(this.#choose(screen.fail, { ...top.vars, error }), { also: { error }, stays: true });
        const scope = screen.save === undefined ? top.vars : { ...top.vars, [screen.save]: value };
        return this.#go(this.#choose(screen.done, scope), { save: screen.save, value, stays: true });
      }
      case 'flow': {
        const flow = this.#flows.get(screen.flow)!;
        const inherited = 'lang' in flow.vars! ? { lang: top.vars.lang! } : {};
        const values = { ...inherited, ...this.#evaluate(screen.with) };
        this.#frames.push(this.#open(flow, {}));
        Object.assign(this.vars, this.#fit(values));
        if (flow.screens[flow.start]!.back === false) for (const frame of this.#frames) frame.stack = [];
        return this.#enter(flow.start);
      }
      case 'end':
        return this.#end(screen);
      default:
        return this.#show();
    }
  }

  #end({ text, output, ends }: Screen & { type: 'end' }): string {
    const value = output === undefined ? null : this.#evaluate(output);
    if (this.#frames.length === 1 || ends) {
      this.ended = this.#say(text);
      return this.ended;
    }
    const stays = this.#frames.pop()!.asked;
    const { done, save } = this.#screen as Screen & { type: 'flow' };
    const scope = save === undefined ? this.vars : { ...this.vars, [save]: value };
    return this.#go(this.#choose(done, scope), { save, value, stays });
  }

  #exit(): string {
    this.#frames = [this.#frames[0]!];
    this.#top.stack = [];
    const id = ['bye', 'goodbye', 'exit'].find((name) => this.#main.screens[name]?.type === 'end');
    if (id !== undefined) return this.#enter(id);
    this.ended = this.#label('goodbye');
    return this.ended;
  }

  #back(): string {
    const { back } = this.#screen;
    const top = this.#top;
    if (typeof back === 'string') {
      const at = top.stack.findLastIndex(({ id }) => id === back);
      if (at >= 0) top.vars = top.stack[at]!.vars;
      top.stack = at < 0 ? [] : top.stack.slice(0, at);
      return this.#enter(back, true);
    }
    while (!this.#top.stack.length) this.#frames.pop();
    const { id, vars } = this.#top.stack.pop()!;
    this.#top.vars = vars;
    return this.#enter(id);
  }

  #label(name: Label): string {
    const { labels, langs = ['en'] } = this.#top.flow;
    const word = (lang: string) => [lang, (findDefaultWords(lang) ?? ENGLISH)[name]] as const;
    return this.#say(labels?.[name] ?? Object.fromEntries(langs.map(word)));
  }

  #refuse(): string {
    this.#refusals++;
    return this.#show();
  }

  #say(text: Text): string {
    const source = typeof text === 'string' ? text : (text[String(this.vars.lang)] ?? Object.values(text)[0]!);
    return source.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(this.vars[name] ?? ''));
  }

  /** The first option with that key, or with that word in the language of the caller or of the flow. */
  #pick(options: readonly { readonly option: Option; readonly key: string | undefined }[], input: string): string {
    const { langs = ['en'] } = this.#top.flow;
    const lang = langs.includes(String(this.vars.lang)) ? String(this.vars.lang) : langs[0]!;
    const says = ({ words = [] }: Option, one: string) =>
      (Array.isArray(words) ? words : ((words as { [lang: string]: readonly string[] })[one] ?? [])).some(
        (word: string) => word.toLowerCase() === input.toLowerCase(),
      );
    const byKey = options.filter(({ key }) => key === input);
    const by = (one: string) => options.filter(({ option }) => says(option, one));
    const meant = [byKey, by(lang), by(langs[0]!)].find((list) => list.length) ?? [];
    return meant.length === 1 ? this.#go(meant[0]!.option, { pushes: true }) : this.#refuse();
  }

  /** The numbers of the rows to choose, and the options with the keys that they print. */
  #options(screen: Screen & { type: 'menu' | 'list' }) {
    const used: string[] = Object.values(this.#moves());
    const rows = screen.type === 'list' && screen.pick ? (this.vars.items as Json[]).length : 0;
    const shown = (screen.options ?? [])
      .filter(({ when }) => when === undefined || CODE[when]!(this.vars) === true)
      .map((option) => {
        const key = used.includes(option.key ?? '') ? undefined : option.key;
        if (key !== undefined) used.push(key);
        return { option, key };
      })
      .filter(({ option, key }) => key !== undefined || !option.hidden || option.words !== undefined);
    const numbers = this.#numbers(used, rows + shown.length);
    const options = shown.map(({ option, key }) => ({
      option,
      key: key ?? (option.hidden ? undefined : numbers.splice(rows, 1)[0]),
    }));
    return { numbers: numbers.slice(0, rows), options };
  }

  #show(): string {
    const screen = this.#screen as Screen & { type: 'menu' | 'input' | 'list' };
    const moves = this.#moves();
    const error = screen.error ?? this.#label(screen.type === 'input' ? 'refused' : 'invalid');
    const lines = [...(this.#refusals ? [this.#say(error)] : []), this.#say(screen.text)];
    const { numbers, options } = screen.type === 'input' ? { numbers: [], options: [] } : this.#options(screen);
    if (screen.type === 'list') {
      const items = this.vars.items as Json[];
      if (!items.length && screen.empty !== undefined) lines.push(this.#say(screen.empty));
      lines.push(...items.map((item, at) => `${screen.pick ? `${numbers[at]}. ` : ''}row ${item}`));
    }
    for (const { option, key } of options) if (!option.hidden) lines.push(`${key}. ${this.#say(option.text)}`);
    for (const name of ['back', 'home', 'exit'] as const)
      if (moves[name] !== undefined && { back: true, home: this.#depth > 1, exit: screen.type !== 'input' }[name])
        lines.push(`${moves[name]}. ${this.#label(name)}`);
    this.#last = lines.join('\n');
    return this.#last;
  }
}
