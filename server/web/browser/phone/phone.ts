// A simulated phone: number, session, log of requests, and network faults.

import type { TextMode } from '../../../../lib/ussd/request.ts';
import {
  type FormFields,
  maskText,
  type PhoneAnswer,
  type PhoneSessionState,
  readSessionState,
  requestText,
  sendRequest,
  type Typed,
} from './requests.ts';
import { type Speech, speak } from './speech.ts';

/** Fault of the next request. */
export type NetworkFault = 'none' | 'twice' | 'drop';

/** A request and its answer, without secrets. */
export interface PhoneExchange {
  readonly what: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly ms: number;
  readonly fields: FormFields;
  readonly answer: string;
  /** Why the phone did not show the answer. @default it did */
  readonly fate?: 'failed' | 'lost';
}

export interface PhoneSession {
  readonly id: string;
  readonly typed: readonly Typed[];
  /** @default before the first answer */
  readonly screen?: { readonly kind: PhoneAnswer['kind']; readonly text: string };
  /** @default unknown: all input counts as secret */
  readonly standing?: PhoneSessionState | undefined;
  /** Number of inputs when the network ended the session; later ones do not belong to the dialogue. */
  readonly forgottenAt?: number;
}

/** State of a phone that survives a reload. */
export interface PhoneState {
  readonly number: string;
  readonly code: string;
  /** Choices of the last dial. @default those of the plain endpoint */
  readonly speech?: Speech | undefined;
  /** Delay before each request in milliseconds. */
  readonly delay: number;
  readonly session?: PhoneSession | undefined;
  /** Newest last. */
  readonly log: readonly PhoneExchange[];
}

const LOG_KEPT = 40;

/** Transport of a phone's requests. */
export interface PhoneLink {
  /** Never rejects. */
  send(fields: FormFields): Promise<PhoneAnswer>;
  /** Undefined if the session is over. */
  readState(sessionId: string): Promise<PhoneSessionState | undefined>;
}

const SERVED: PhoneLink = { send: sendRequest, readState: readSessionState };

export interface PhoneOptions {
  readonly mode: TextMode;
  readonly changed: () => void;
  /** @default the served flow */
  readonly link?: PhoneLink;
}

export class Phone {
  state: PhoneState;
  busy = false;
  fault: NetworkFault = 'none';
  readonly #mode: TextMode;
  readonly #changed: () => void;
  readonly #link: PhoneLink;

  constructor(state: PhoneState, { mode, changed, link = SERVED }: PhoneOptions) {
    this.state = state;
    this.#mode = mode;
    this.#link = link;
    this.#changed = changed;
  }

  set(part: Partial<PhoneState>): void {
    this.state = { ...this.state, ...part };
    this.#changed();
  }

  setFault(fault: NetworkFault): void {
    this.fault = fault;
    this.#changed();
  }

  /** Whether the screen waits for an answer. */
  get isOpen(): boolean {
    return this.state.session?.screen?.kind === 'continue';
  }

  /** Whether to hide input. */
  get asksForSecret(): boolean {
    const { session } = this.state;
    return this.isOpen && (session?.standing?.secret ?? true);
  }

  dial(): Promise<void> {
    const session: PhoneSession = { id: `sim-${makeName()}`, typed: [] };
    this.set({ session });
    return this.#send('dial');
  }

  answer(text: string): Promise<void> {
    const { session } = this.state;
    if (!session || this.busy) return Promise.resolve();
    const secret = this.asksForSecret && !session.standing?.keys.includes(text);
    this.set({ session: { ...session, typed: [...session.typed, { text, secret }] } });
    return this.#send('answer');
  }

  /** Sends the last request again. */
  retry(): Promise<void> {
    return this.#send('retry');
  }

  /** The network ends the session without telling the phone. */
  async expire(): Promise<void> {
    const { session } = this.state;
    if (!session || this.busy) return;
    const spoken = this.#speak(session, 'end');
    if (this.state.speech && !spoken) return;
    const { text: _, ...fields } = { ...this.#fields(session), status: 'Incomplete', durationInMillis: '180000' };
    await this.#travel([{ what: 'time-out', fields, shown: fields, ...spoken }]);
    this.busy = false;
    this.set({ session: { ...session, forgottenAt: session.forgottenAt ?? session.typed.length } });
  }

  /** Whether the dialect has a request for a network time-out. */
  get canExpire(): boolean {
    const { session, speech } = this.state;
    return session !== undefined && (!speech || this.#speak(session, 'end') !== undefined);
  }

  #speak({ id, typed }: PhoneSession, kind: 'dial' | 'type' | 'end') {
    const { number, code, speech } = this.state;
    if (!speech) return undefined;
    return speak(speech, { kind, sessionId: id, phoneNumber: number, serviceCode: code, typed, mode: this.#mode });
  }

  #fields({ id, typed }: PhoneSession): FormFields & { readonly text: string } {
    const { number, code } = this.state;
    return { sessionId: id, serviceCode: code, phoneNumber: number, text: requestText(typed, this.#mode) };
  }

  async #send(what: 'dial' | 'answer' | 'retry'): Promise<void> {
    const { session } = this.state;
    if (!session || this.busy) return;
    const fields = this.#fields(session);
    const shown = { ...fields, text: maskText(session.typed, this.#mode) };
    const request = { what, fields, shown, ...this.#speak(session, session.typed.length ? 'type' : 'dial') };
    const fault = what === 'retry' ? 'none' : this.fault;
    this.fault = 'none';
    // If the page is closed now, the answer is lost.
    this.set({ session: { ...session, screen: LOST } });
    const first = fault === 'drop' ? { ...request, isLost: true } : request;
    const requests = fault === 'twice' ? [request, { ...request, what: `${what}, its copy` }] : [first];
    const { kind, text } = await this.#travel(requests);
    if (fault === 'drop') return this.#rest();
    const known = kind === 'continue' ? await this.#link.readState(session.id) : undefined;
    this.busy = false;
    this.set({ session: { ...session, screen: { kind, text }, standing: known } });
  }

  #rest(): void {
    this.busy = false;
    this.#changed();
  }

  /** Sends all at once and returns the first answer. The phone is busy from here on. */
  async #travel(requests: readonly Request[]): Promise<PhoneAnswer> {
    this.busy = true;
    this.#changed();
    await new Promise((resolve) => setTimeout(resolve, this.state.delay));
    const [answer] = await Promise.all(requests.map((request) => this.#exchange(request)));
    return answer!;
  }

  async #exchange({ what, fields, shown, isLost, send }: Request): Promise<PhoneAnswer> {
    const at = Date.now();
    const answer = await (send ? send() : this.#link.send(fields));
    const fate = isLost ? 'lost' : answer.kind === 'trouble' ? 'failed' : undefined;
    const base = { what, at, ms: Date.now() - at, fields: shown, answer: answer.raw || answer.text };
    const exchange: PhoneExchange = fate === undefined ? base : { ...base, fate };
    this.set({ log: [...this.state.log, exchange].slice(-LOG_KEPT) });
    return answer;
  }
}

interface Request {
  readonly what: string;
  readonly fields: FormFields;
  /** Fields without secrets. */
  readonly shown: FormFields;
  /** Whether to drop the answer. */
  readonly isLost?: boolean;
  /** @default sends through the link */
  readonly send?: () => Promise<PhoneAnswer>;
}

const LOST = { kind: 'trouble', text: 'The answer was lost on its way.\nRetry asks for it again.' } as const;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

// Letters only: digits would be masked as a phone number where sessions are shown.
function makeName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => LETTERS[byte % LETTERS.length]).join('');
}
