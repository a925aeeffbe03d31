import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Accepts findings of cdk-nag on a construct and all below it.
 * @param reasons by rule, `AwsSolutions-IAM5[Resource::*]` for one finding of a rule with many
 */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}

/**
 * Accepts a resource with a wildcard in a policy, that one alone.
 * @param resource as in the statement; one without a wildcard is no finding
 */
export function acknowledgeWildcard(construct: IConstruct, resource: string, reason: string): void {
  const written = flatten(Stack.of(construct).resolve(resource));
  if (written.includes('*')) acknowledge(construct, { [`AwsSolutions-IAM5[Resource::${written}]`]: reason });
}

/** The form in which cdk-nag names a resource: `<LogicalId.Attribute>/rest`. */
function flatten(node: unknown): string {
  if (typeof node === 'string') return node;
  if (!isRecord(node)) throw new Error('not an ARN');
  if (typeof node['Ref'] === 'string') return `<${node['Ref']}>`;
  const attribute = node['Fn::GetAtt'];
  if (Array.isArray(attribute)) return `<${attribute.join('.')}>`;
  const joined = node['Fn::Join'];
  if (Array.isArray(joined) && Array.isArray(joined[1])) return joined[1].map(flatten).join(String(joined[0]));
  throw new Error('an ARN of an unknown form');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
