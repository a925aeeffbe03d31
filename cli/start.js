// `npm start`: without words it runs the sample rollouts with the offline model, whatever keys are set; with words it is `stillroom`.
import { fileURLToPath } from 'node:url';

if (process.argv.length === 2) {
  process.argv.push('run', fileURLToPath(new URL('../examples/rollouts', import.meta.url)), '--model', 'offline');
}
await import('./bin.js');
