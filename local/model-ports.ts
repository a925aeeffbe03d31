import type { ModelClient } from '../core/ports/model-client.ts';
import type { Home } from './home.ts';
import type { ModelSetup } from './model.ts';

/** The home with the model of this run, and the account that its calls are booked on. */
export function modelPorts(home: Home, model: ModelSetup): Home & { readonly model: ModelClient } {
  return { ...home, model: model.client, ledger: model.offline ? home.offlineLedger : home.ledger };
}
