import IconEyeOff from 'icon:eye-off';
import { Alert, Code, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { relativeTime } from '../../parts/format.ts';
import type { IndicatorDetail } from './indicator-detail.ts';

/** The reasons why the API, exports and rules omit an indicator. */
export function HiddenAlert({
  indicator: { suppressedBy, expired, expiresAt },
}: {
  indicator: IndicatorDetail;
}) {
  if (!suppressedBy && !expired) return null;
  return (
    <Alert color="yellow" icon={<IconEyeOff />} title="Hidden from API, exports and rules">
      {suppressedBy?.entry === null && (
        <Text size="sm">Hidden by a whitelist entry above your TLP ceiling.</Text>
      )}
      {suppressedBy && suppressedBy.entry !== null && (
        <Text size="sm">
          The whitelist entry <Code className="value">{visibleText(suppressedBy.entry)}</Code>{' '}
          {suppressedBy.list === null
            ? `hides it, added by ${suppressedBy.addedBy ?? 'an unknown user'}: ${visibleText(suppressedBy.reason ?? '')}`
            : `of the list “${visibleText(suppressedBy.list)}” hides it. An operator switches a list off with “tipline whitelist disable”.`}
        </Text>
      )}
      {expired && expiresAt && <Text size="sm">Expired {relativeTime(expiresAt)}.</Text>}
    </Alert>
  );
}
