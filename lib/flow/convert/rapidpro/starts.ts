// What starts the flows of an export without a caller who dials: triggers and campaigns. Flows have neither, so each is reported.

import type { ConversionReport } from '../report.ts';
import { asObject, asObjects, asText, type Foreign } from '../source.ts';
import type { ProFlow } from './file.ts';

const TRIGGER =
  'A phone starts a flow by its service code, and a flow enters another: lead to it from the flow that is dialled.';
const CAMPAIGN = 'A phone menu calls nobody: start it from your own scheduler, or tell callers to dial.';

/** Reports the triggers and the events of campaigns, each at the flow that it starts. */
export function reportStarts(document: Foreign, flows: readonly ProFlow[], report: ConversionReport): void {
  const findFlow = (reference: unknown): string => {
    const { uuid, name } = asObject(reference);
    return flows.find((flow) => flow.uuid === uuid || flow.title === name)?.name ?? '';
  };
  for (const trigger of asObjects(document.triggers)) {
    const keywords = [trigger.keyword, ...(Array.isArray(trigger.keywords) ? trigger.keywords : [])].flatMap(
      (keyword) => asText(keyword) ?? [],
    );
    const what = keywords.length
      ? `trigger ${keywords.join(', ')}`
      : `trigger of type ${asText(trigger.trigger_type) ?? '?'}`;
    report.add({ flow: findFlow(trigger.flow), node: '', what, reason: TRIGGER });
  }
  for (const campaign of asObjects(document.campaigns))
    for (const event of asObjects(campaign.events)) {
      const what = `campaign ${asText(campaign.name) ?? ''}, ${String(event.offset ?? '')} ${asText(event.unit) ?? ''}`;
      report.add({ flow: findFlow(event.flow), node: '', what: what.trim(), reason: CAMPAIGN });
    }
}
