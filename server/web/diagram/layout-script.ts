// The script of the worker that lays out graphs. CommonJS in a string: it runs the same from sources and from the build.

/** Gets `{ id, graph }`, answers `{ id, laid }` or `{ id, problem }`; its data is `{ elk: the path of elkjs }`. */
export const LAYOUT_SCRIPT = `
const { parentPort, workerData } = require('node:worker_threads');
const ELK = require(workerData.elk);
const elk = new ELK();
parentPort.on('message', ({ id, graph }) => {
  elk.layout(graph).then(
    (laid) => parentPort.postMessage({ id, laid }),
    (error) => parentPort.postMessage({ id, problem: String((error && error.message) || error) }),
  );
});
`;
