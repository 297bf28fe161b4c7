<?php

declare(strict_types=1);

namespace SiteConnector;

/** The reason of a failed job. The service shows the text to people. */
final class JobFailure extends \RuntimeException
{
}
