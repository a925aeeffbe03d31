import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderDocument } from './document.ts';

/** `npm run openapi`: writes the document that the function `control` publishes. A test tells when it is out of date. */
writeFileSync(join(import.meta.dirname, '..', 'control', 'openapi.json'), renderDocument());
