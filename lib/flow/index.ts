// What `import … from 'twinline/flow'` gives: flows loaded, checked, compiled, tested and measured.

export { type CompiledFlow, type CompileOptions, compileFlow } from './compile.ts';
export { type Coverage, coverageLine } from './coverage.ts';
export { compileExpression, type Expression } from './expression.ts';
export type { Flow, Screen, ScreenType, Text, Variable, Way } from './flow.ts';
export { checkFlow, lintFlow } from './lint.ts';
export { type LoadedFlows, loadFlow, loadFlows, parseFlow } from './load.ts';
export { type Problem, problemLine } from './problem.ts';
export { compileTemplate, type Template } from './template.ts';
export { type FlowTestFile, parseFlowTests } from './test-file.ts';
export { type FlowTestFailure, type FlowTestReport, failureText, recordFlowTest, runFlowTests } from './test-run.ts';
