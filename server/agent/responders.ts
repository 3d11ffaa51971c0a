// Selects who answers chats on this server: a model if one is configured, otherwise a flow.

import type { Responder } from '../../lib/agent/responder.ts';
import { type FlowResponder, flowResponder } from '../../lib/agent/responders/flow.ts';
import type { LanguageModel } from '../../lib/agent/responders/language-model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Conversation, Inspector } from '../../lib/engine/conversation.ts';
import type { Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { isFlow } from '../../lib/flow/run/compile.ts';
import { isObject } from '../../lib/given.ts';
import type { Keyring } from '../../lib/keyring.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import type { Config } from '../config/config.ts';
import { importDefault } from '../config/modules.ts';

export interface ResponderOptions {
  readonly config: Pick<Config, 'agent' | 'model'>;
  /** Answers instead of a model or flow. */
  readonly given?: Responder | undefined;
  readonly snapshots: SnapshotStore;
  readonly keyring: Keyring;
  readonly conversations: readonly Conversation[];
  readonly services: Services;
  readonly clock: Clock;
  /** The clock for sessions. */
  readonly sessionClock: Clock;
  /** Inspects the conversations of a flow. */
  readonly inspector?: Inspector | undefined;
  readonly report: (error: unknown, what: string) => void;
}

export interface OpenedResponder {
  readonly responder: Responder;
  /** Uses an edited flow for new sessions; no effect if a model answers. */
  readonly add: FlowResponder['add'];
}

/** Opens the responder; throws ERR_CONFIG for an unusable flow or missing packages of a model. */
export async function openResponder(options: ResponderOptions): Promise<OpenedResponder> {
  const { config, given, clock, report } = options;
  const { model } = config;
  if (given) return { responder: checkResponder(given), add: () => {} };
  if (!model) return openFlowResponder(options);
  // Only if a model is configured: others need none of it.
  const { modelResponder } = await import('../../lib/agent/responders/model.ts');
  const { from, name, others, systemPrompt } = model;
  const responder = await modelResponder({
    ...('module' in from
      ? { models: [await loadModel(from.module)] as const }
      : { endpoint: from, model: name, others }),
    clock,
    ...(systemPrompt !== undefined && { systemPrompt }),
    onProblem: (error) => report(error, 'a model did not answer'),
  });
  return { responder, add: () => {} };
}

/** The language model that a module exports by default. Throws ERR_CONFIG. */
export async function loadModel(module: string): Promise<LanguageModel> {
  const imported = await importDefault(module, process.cwd());
  const why = imported.kind === 'broken' ? imported.why : findModelFlaw(imported.value);
  if (why !== undefined) throw new TwinlineError('ERR_CONFIG', `MODEL: "${module}" ${why}`);
  return (imported as { readonly value: LanguageModel }).value;
}

function findModelFlaw(value: unknown): string | undefined {
  const { specificationVersion, modelId, doStream } = isObject(value) ? value : {};
  if (typeof doStream !== 'function' || typeof modelId !== 'string')
    return 'exports no language model by default. Write for example export default google("gemini-3-pro");';
  return /^v[234]$/.test(String(specificationVersion))
    ? undefined
    : `exports a model of the interface ${specificationVersion}, and v2 to v4 are known. Install another version of its package.`;
}

function checkResponder(responder: Responder): Responder {
  const { name, isResumable, respond } = responder;
  const problems = [
    ...(/^[A-Za-z0-9-]+$/.test(String(name)) ? [] : ['responder has an invalid name: use letters, digits and dashes.']),
    ...(typeof isResumable === 'boolean' ? [] : ['responder must have isResumable: true or false.']),
    ...(typeof respond === 'function' ? [] : ['responder has no method "respond".']),
  ];
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return responder;
}

function openFlowResponder({ config, snapshots, report, ...options }: ResponderOptions): OpenedResponder {
  const { flow } = config.agent;
  const isOurs = ({ id }: Conversation) => id === flow;
  options.conversations.filter(isOurs).forEach(refuseSecrets);
  const responder = flowResponder({
    store: snapshots,
    conversations: options.conversations,
    flow,
    services: options.services,
    keyring: options.keyring,
    clock: options.sessionClock,
    inspector: options.inspector,
    onProblem: ({ error, reason }) => report(error ?? reason, 'a conversation with the agent cannot go on'),
  });
  return {
    responder,
    add: (conversation) => {
      try {
        if (isOurs(conversation)) refuseSecrets(conversation);
        responder.add(conversation);
      } catch (error) {
        report(error, 'chats go on with the flow as it was');
      }
    },
  };
}

// A chat stores and shows what is typed, so its flow must not ask for a PIN.
function refuseSecrets(conversation: Conversation): void {
  const { id } = conversation;
  if (!isFlow(conversation)) {
    if (!conversation.secretsIn) return;
    throw new TwinlineError(
      'ERR_CONFIG',
      `AGENT_FLOW=${id} is a machine with \`secrets\`, and chats keep what is typed. Choose one that asks for no secrets.`,
    );
  }
  const { screens } = conversation;
  for (const [path, { screen, scope }] of screens)
    if (screen.type === 'input' && scope.flow.vars?.[screen.save]?.secret)
      throw new TwinlineError(
        'ERR_CONFIG',
        `AGENT_FLOW=${id} asks for the secret "${screen.save}" on screen "${path}", but chats store what is typed. Choose a flow without secrets.`,
      );
}
