import IconDownload from 'icon:download';
import { Button, type ButtonProps } from '@mantine/core';
import { downloadLink } from './download-link.ts';

interface NavigatorDownloadProps extends Pick<ButtonProps, 'size'> {
  /** The address of the layer. */
  href: string;
  label?: string;
}

/** A button that downloads techniques as a layer of the ATT&CK Navigator. */
export function NavigatorDownload({ href, label = 'Navigator layer', ...button }: NavigatorDownloadProps) {
  return (
    <Button {...downloadLink(href)} variant="default" leftSection={<IconDownload size={16} />} {...button}>
      {label}
    </Button>
  );
}
