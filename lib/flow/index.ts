// Exports of `twinline/flow`: load, check, compile, test and measure flows.

export { compileExpression, type Expression } from './expression/expression.ts';
export { compileTemplate, type Template } from './expression/template.ts';
export type { Flow, Screen, ScreenType, Text, Variable, Way } from './format/flow.ts';
export { type LoadedFlows, loadFlow, loadFlows, parseFlow } from './format/load.ts';
export { type Problem, problemLine } from './format/problem.ts';
export { checkFlow, type LintContext, lintFlow } from './lint/lint.ts';
export type { Lint, LintRule, RuleFinding } from './lint/rule.ts';
export type { Contracts, ServiceContract } from './lint/shapes.ts';
export { type CompiledFlow, type CompileOptions, compileFlow } from './run/compile.ts';
export { type Coverage, coverageLine } from './testing/coverage.ts';
export type { FlowTestFile } from './testing/file.ts';
export { parseFlowTests } from './testing/parse.ts';
export { type FlowTestFailure, type FlowTestReport, failureText, recordFlowTest, runFlowTests } from './testing/run.ts';
