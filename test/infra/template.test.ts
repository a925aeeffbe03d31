/** One process for all that is asserted of templates: loading the CDK takes longer than the assertions. */
import './alarms.suite.ts';
import './api.suite.ts';
import './documents.suite.ts';
import './findings.suite.ts';
import './permissions.suite.ts';
import './queues.suite.ts';
import './stages.suite.ts';
import './storage.suite.ts';
