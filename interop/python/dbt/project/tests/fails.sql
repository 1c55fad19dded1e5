{{ config(severity='warn') }}
select id from {{ source('lake', 'item') }} where price is null
