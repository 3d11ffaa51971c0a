// What `import … from 'twinline/testing'` gives: what we hold our own parts to, for parts of yours, under any test runner.

export { SimulatedClock } from '../clock.ts';
export { loadFlow, loadFlows } from '../flow/format/load.ts';
export type { FlowTestFile } from '../flow/testing/file.ts';
export { parseFlowTests } from '../flow/testing/parse.ts';
export {
  type FlowTestFailure,
  type FlowTestReport,
  failureText,
  recordFlowTest,
  runFlowTests,
} from '../flow/testing/run.ts';
export { type RecordedRequest, TELECOM_DIALECTS, type TelecomDialect, type TelecomStep } from '../ussd/telecoms.ts';
export { adapterChecks } from './adapter.ts';
export type { Open, Where } from './bench.ts';
export type { Check, SkipOptions, SuiteOptions } from './checks.ts';
export type { RandomOptions } from './random.ts';
export type { AdapterSamples, ReadAnswer, RecordedDialogue, RecordedTurn } from './recorded.ts';
export { documentStoreChecks, logStoreChecks, snapshotStoreChecks } from './stores.ts';
export {
  type CallerOptions,
  type TelecomCaller,
  type TelecomGateway,
  type TelecomOptions,
  telecomGateway,
} from './telecom.ts';
