import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { encodeJobMessage } from '../../../core/job/job-message.ts';

/** Events as AWS sends them, with the parts that matter to a test as parameters. */
export const ROLLOUTS = 'stillroom-test-rollouts';
export const QUEUE_ARN = 'arn:aws:sqs:eu-west-1:123456789012:stillroom-test-rollouts';

/** A batch of messages with these bodies; ids are `message-1`, `message-2`, … */
export function batchOf(...bodies: readonly string[]): SQSEvent {
  return { Records: bodies.map((body, at) => messageOf(body, at + 1)) };
}

export function messageOf(body: string, number: number, receives = 1): SQSRecord {
  return {
    messageId: `message-${number}`,
    receiptHandle: `receipt-${number}`,
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      AWSTraceHeader: 'Root=1-69a6cb4c-3f0d5a6b7c819b7e7a113f0d;Parent=9b7e3f0d5a6b7c81;Sampled=0',
      SentTimestamp: '1772539200000',
      SenderId: 'AROAEXAMPLEEXAMPLE:S3-PROD-END',
      ApproximateFirstReceiveTimestamp: '1772539200250',
    },
    messageAttributes: {},
    md5OfBody: '9bb58f26192e4ba00f01e2e7b136bbd8',
    eventSource: 'aws:sqs',
    eventSourceARN: QUEUE_ARN,
    awsRegion: 'eu-west-1',
  };
}

export function dueBody(userKey: string, threadId: string): string {
  return encodeJobMessage({ kind: 'thread-due', userKey, threadId });
}

/** The body of a message that S3 sent. */
export function s3Body(...records: readonly unknown[]): string {
  return JSON.stringify({ Records: records });
}

/**
 * One record of an S3 notification.
 * @param key as the object is called; written into the record as S3 does
 */
export function objectCreated(key: string, sequencer: string, bucket = ROLLOUTS): Readonly<Record<string, unknown>> {
  return objectEvent('ObjectCreated:Put', key, { sequencer, bucket });
}

export function objectEvent(
  eventName: string,
  key: string,
  of: { readonly sequencer: string; readonly bucket?: string },
): Readonly<Record<string, unknown>> {
  const name = of.bucket ?? ROLLOUTS;
  return {
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: 'eu-west-1',
    eventTime: '2026-03-03T12:00:00.000Z',
    eventName,
    userIdentity: { principalId: 'AWS:AROAEXAMPLEEXAMPLE:control' },
    requestParameters: { sourceIPAddress: '203.0.113.7' },
    responseElements: {
      'x-amz-request-id': 'C3D13FE58DE4C810',
      'x-amz-id-2': 'FMyUVURIY8/IgAtTv8xRjskZQpcIZ9KG4V5Wp6S7S/JRWeUWerMUE5JgHvANOjpD',
    },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: 'rollouts-created',
      bucket: { name, ownerIdentity: { principalId: 'A3NL1KOZZKExample' }, arn: `arn:aws:s3:::${name}` },
      object: {
        key: encodeAsS3(key),
        size: 2048,
        eTag: 'd41d8cd98f00b204e9800998ecf8427e',
        versionId: '096fKKXTRTtl3on89fVO.nfljtsv6qko',
        sequencer: of.sequencer,
      },
    },
  };
}

/** What S3 sends to a queue when a notification is set up. */
export function s3TestBody(): string {
  return JSON.stringify({
    Service: 'Amazon S3',
    Event: 's3:TestEvent',
    Time: '2026-03-03T12:00:00.000Z',
    Bucket: ROLLOUTS,
    RequestId: '5582815E1AEA5ADF',
    HostId: '8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE',
  });
}

/** A notification that went through a topic on its way to the queue. */
export function throughTopic(message: string): string {
  return JSON.stringify({
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: 'arn:aws:sns:eu-west-1:123456789012:uploads',
    Subject: 'Amazon S3 Notification',
    Message: message,
    Timestamp: '2026-03-03T12:00:00.100Z',
    SignatureVersion: '1',
    Signature: 'EXAMPLEw6JRN...',
    SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService.pem',
    UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
  });
}

/** A form encoding of UTF-8: a space is `+`, only letters, digits, `-_.*` and the slashes stay. */
function encodeAsS3(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replaceAll('%20', '+')
    .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
